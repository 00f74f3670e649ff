# SPDX-License-Identifier: MIT
"""What can be changed in a header, and headers that hold many changes at once, each behind a switch that is read at run time.

`a < b` becomes `(on(17) ? (a <= b) : (a < b))`: a schema. Lines stay where they are. A change whose place is not an
expression that is evaluated at run time, such as an argument of a template, has no schema and is compiled by itself."""
import bisect, collections, functools, hashlib, os, re

# ---- what can be changed: (name, pattern, replacement of the match)
swap = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "true": "false", "false": "true",
        "+ 1": "+ 2", "- 1": "- 2", "++": "--", "--": "++"}
plain_name = r"[A-Za-z_][\w.]*(?:\(\))?"
kinds = [
    ("relation", r"(?<= )(<=|>=|==|!=|<|>)(?= )", lambda m: swap[m[0]]),
    ("and, or", r"(?<= )(&&|\|\|)(?= )", lambda m: swap[m[0]]),
    ("one more", r"(\+ 1|- 1)\b(?![.\w])", lambda m: swap[m[0]]),
    ("one less", r"(?<= )(\+|-) 1\b(?![.\w])", lambda m: m[1] + " 0"),
    ("direction", r"(?<![\w+-])(\+\+|--)(?=\w)", lambda m: swap[m[0]]),
    ("negation", r"(?<=[( ])!(?=[\w(])", lambda m: ""),
    ("condition", r"\bif \((?!!)([^()]*(?:\([^()]*\)[^()]*)*)\)(?= \S|$)", lambda m: f"if (!({m[1]}))"),
    ("constant", r"(?<![\w.'<,\[])(\d+)(?![\w.'>])", lambda m: str(int(m[1]) + 1)),
    ("truth", r"(?<=[ (])(true|false)\b", lambda m: swap[m[0]]),
    ("arguments", rf"(?<=\w)\(({plain_name}), ({plain_name})\)", lambda m: f"({m[2]}, {m[1]})"),
    ("statement", r"^( +)(?!\.|->|return\b|throw\b|else\b|using\b|static_assert\b|case\b|break\b|continue\b|goto\b|delete\b|friend\b)"
                  r"(?:[\w:.\[\]*]|->)+(?:\(.*\)| [-+|&*]?= [^=].*);$", lambda m: m[1] + ";"),
]


def blanked(text, literals=True, declarations=True):
    """The same text with comments blanked, so that places stay; literals and the lines that hold no mutants, too."""
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])
    literal = r'"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])\''
    text = re.sub(rf"//[^\n]*|/\*.*?\*/|{literal}", lambda m: blank(m) if m[0][0] == "/" else
                  m[0][0] + "_" * (len(m[0]) - 2) + m[0][0] if literals else m[0], text, flags=re.S)
    words = "#|static_assert|template|requires|concept" if declarations else "#"
    return re.sub(rf"^ *(?:{words})[^\n]*(?:\\\n[^\n]*)*", blank, text, flags=re.M)


@functools.cache
def text_of(root, path):
    """The text of a file as it was when it was first asked for: one who edits it during a run changes nothing in the run."""
    with open(os.path.join(root, path)) as file: return file.read()


def mutants_of(root, path):
    """Every (path, line, kind, before, after, at, end) of a header; `at` and `end` are offsets in the file.

    Its name holds where lines are added elsewhere: of equal changes in equal lines, the second and later ones are numbered."""
    text = text_of(root, path)
    code, found, like = blanked(text), [], collections.Counter()
    for kind, pattern, change in kinds:
        for m in re.finditer(pattern, code, flags=re.M):
            before = text[m.start():m.end()]
            after = change(m) if kind != "condition" else f"if (!({before[4:-1]}))"  # literals are blanked in the match
            if kind == "arguments" and m[1] == m[2] or after == before or kind == "condition" and " = " in before: continue
            line = text.count("\n", 0, m.start()) + 1
            whole = text.splitlines()[line - 1].strip()
            words = f"{path}|{whole}|{kind}|{before}|{after}|{m.start() - text.rfind(chr(10), 0, m.start())}"
            like[words] += 1
            name = hashlib.sha1((words if like[words] == 1 else f"{words}|{like[words]}").encode()).hexdigest()[:12]
            found.append(dict(id=name, path=path, line=line, kind=kind, before=before, after=after, at=m.start(), end=m.end(), whole=whole))
    return found


# ---- where an expression begins and ends
token = re.compile(r"\w+|->\*?|::|<=>|<<=|>>=|[<>=!+*/%&|^-]=|&&|\|\||\+\+|--|<<|\.\.\.|[^\w\s]")
pairs = {"(": ")", "[": "]", "{": "}", "<": ">"}
assignments = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
separators = {",", ";", "?", ":", "...", *assignments}
before_expressions = {"return", "co_return", "throw", "else", "do"}
never_at_run_time = {"decltype", "noexcept", "sizeof", "alignas", "alignof", "requires", "static_assert", "constexpr", "explicit", "typeid"}


class Syntax:
    """Tokens and brackets of a header. clang-format puts blanks around operators and none before a bracket of template arguments."""

    def __init__(self, text):
        self.code = blanked(text, declarations=False)
        self.tokens = [(m[0], m.start(), m.end()) for m in token.finditer(self.code)]
        self.starts = [start for _, start, _ in self.tokens]
        no_bracket = set()
        while not self.match_brackets(no_bracket): pass

    def word(self, i): return self.tokens[i][0] if 0 <= i < len(self.tokens) else ""

    def match_brackets(self, no_bracket):
        """Whether each bracket of template arguments has its end; those without are added to `no_bracket`."""
        self.match, self.parent, stack = {}, [], []
        for i, (word, start, end) in enumerate(self.tokens):
            if word in (")", "]", "}") or word == ";":
                while stack and self.word(stack[-1]) == "<" and (word == ";" or any(pairs[self.word(s)] == word for s in stack)):
                    no_bracket.add(stack.pop())
                if no_bracket - getattr(self, "known", set()):
                    self.known = set(no_bracket)
                    return False
            if stack and word == pairs[self.word(stack[-1])] and (word != ">" or self.code[start - 1] != " "):
                self.match[i], self.match[stack[-1]] = stack[-1], i
                stack.pop()
            self.parent.append(stack[-1] if stack else None)
            angle = (word == "<" and i not in no_bracket and self.word(i - 1) != "operator" and
                     (self.word(i - 1) == "template" or self.code[start - 1] not in " \n" and self.code[end:end + 1] not in (" ", "\n")))
            if word in "([{" or angle: stack.append(i)
        return True

    def is_lambda(self, brace):
        """Whether a brace opens the body of a lambda."""
        i = brace - 1
        while i >= 0 and self.word(i) not in (")", "]", ";", "{", "}"): i = self.match[i] - 1 if self.word(i) == ">" and i in self.match else i - 1
        if self.word(i) == ")" and i in self.match: i = self.match[i] - 1
        if self.word(i) == ">" and i in self.match: i = self.match[i] - 1
        return self.word(i) == "]" and i in self.match and not re.match(r"[\w\])]", self.word(self.match[i] - 1) or " ")

    def is_list(self, brace):
        """Whether a brace opens a list of values, not a block or a class."""
        word = self.word(brace - 1)
        if word in (")", ";", "{", "}", ":", "") or word in ("else", "do", "try", "const", "mutable", "noexcept", "override", "final", "volatile"):
            return word == "{" and self.parent[brace] is not None and self.is_list(self.parent[brace])
        i = brace - 1
        while i >= 0 and self.word(i) not in (";", "{", "}", ")"):
            if self.word(i) in ("struct", "class", "union", "enum", "namespace", "->", "extern"): return False
            if self.word(i) in ("=", "return", ",", "("): return True
            i -= 1
        return True

    def is_value(self, i):
        """Whether a token is inside brackets whose content is evaluated, and can be so at run time."""
        while (i := self.parent[i]) is not None:
            before = self.word(i - 1)
            if self.word(i) == "<" or self.word(i) in "([" and before in never_at_run_time: return False
            if self.word(i) == "{" and self.word(i - 1) != ")" and not self.is_list(i):
                j = i - 1
                while j >= 0 and self.word(j) not in (";", "{", "}"): j -= 1
                if "enum" in (self.word(k) for k in range(j + 1, i)): return False
        return True

    def region(self, i, also):
        """(first, last, is a statement) of the tokens of the smallest whole expression around token i; None where there is none.

        It ends at separators and at the words in `also`."""
        first = i
        while first > 0:
            word = self.word(first - 1)
            if word in (")", "]", "}", ">") and first - 1 in self.match:
                begin = self.match[first - 1]
                if word == ")" and self.word(begin - 1) in ("if", "for", "while", "switch", "constexpr"): break
                if word == "}" and not self.is_list(begin) and not self.is_lambda(begin): break
                first = begin
            elif word in ("(", "[", "{") or first - 1 in self.match or word in separators or word in before_expressions or word in also: break
            else: first -= 1
        last = i
        while last + 1 < len(self.tokens):
            word = self.word(last)
            if word in ("(", "[", "{", "<") and last in self.match: last = self.match[last]
            word = self.word(last + 1)
            if word in (")", "]", "}") or last + 1 in self.match and word == ">" or word in separators or word in also: break
            last += 1
        while self.word(first) == "[" and self.word(first + 1) == "[": first = self.match[first] + 1  # attributes
        if not first <= i <= last or self.word(first) in ("case", "using", "typedef", "goto", "friend"): return None
        if self.word(last + 1) in assignments: return None
        place, before = self.parent[first], self.word(first - 1)
        if self.word(first - 1) == "case" or not self.is_value(first): return None
        is_statement = before in (";", "{", "}", ")", "else", "do", ":")
        if is_statement and before != ":" and (place is None or self.word(place) == "{" and not self.is_list(place) and not self.is_block(place)): return None
        return first, last, is_statement and self.word(last + 1) == ";"

    def is_block(self, brace):
        """Whether a brace that opens no list opens statements, not a class or a namespace."""
        i = brace - 1
        while i >= 0 and self.word(i) not in (";", "{", "}"):
            if self.word(i) in ("struct", "class", "union", "enum", "namespace"): return False
            if self.word(i) == ")" or self.word(i) == "]": return True
            i -= 1
        return self.word(brace - 1) in ("else", "do", "try") or self.parent[brace] is not None and self.is_block(self.parent[brace])


class Schemata:
    """A header with the changes `numbered`, (number, mutant): `text`, and `blamed`, whose change stands at a place."""

    def __init__(self, root, path, numbered):
        self.original = text_of(root, path)
        self.plain = blanked(self.original, literals=False, declarations=False)
        self.syntax, self.held, wanted = Syntax(self.original), set(), {}
        for number, mutant in numbered:
            span = self.span(mutant)
            if span and "\n#" not in re.sub(r"\n +#", "\n#", self.original[span[0]:span[1]]): wanted.setdefault(span, []).append((number, mutant))
        self.spans = []
        for span in sorted(wanted, key=lambda s: (s[0], -s[1], s[2])):  # none may end in the middle of another
            if all(span[1] <= other[1] or span[0] >= other[1] for other in self.spans): self.spans.append(span)
        self.pieces, self.at, self.changes, self.places = [], 0, [], []
        if self.spans: self.put("#include <switched.hpp>")
        self.weave(self.original.find("\n") if self.spans else 0, len(self.original), self.spans, wanted)
        self.text = "".join(self.pieces)
        self.lines = [0] + [m.end() for m in re.finditer("\n", self.text)]

    def span(self, mutant):
        """(begin, end, style) of what has to be doubled; None where the change has no schema."""
        s, at = self.syntax, mutant["at"]
        if mutant["kind"] == "statement":
            begin, end = at + len(mutant["before"]) - len(mutant["before"].lstrip()), mutant["end"]
            i = bisect.bisect_left(s.starts, begin)
            found = s.region(i, ()) if s.is_value(i) else None
            if found and s.starts[found[0]] == begin or s.word(i - 1) in (";", "{", "}", ")", "else", "do"):
                last = bisect.bisect_left(s.starts, end) - 1
                depth = s.parent[i]
                if s.word(last) == ";" and s.parent[last] == depth and depth is not None and s.is_block(depth): return begin, end, 0
            return None
        if mutant["kind"] == "condition":
            i = bisect.bisect_left(s.starts, at) + 1
            inside = [s.word(k) for k in range(i + 1, s.match.get(i, i)) if s.parent[k] == i]
            if not inside or set(inside) & {";", "="} or not s.is_value(i + 1): return None
            return s.tokens[i][2], s.tokens[s.match[i]][1], 1
        i = bisect.bisect_left(s.starts, at)
        found = s.region(i, () if mutant["kind"] == "and, or" else ("&&", "||"))
        return found and (s.tokens[found[0]][1], s.tokens[found[1]][2], 2)

    def put(self, text):
        self.pieces.append(text)
        self.at += len(text)

    def weave(self, begin, end, spans, wanted):
        """Writes original[begin:end] with the schemata of these spans, which lie in it."""
        while spans:
            span, inner = spans[0], [s for s in spans[1:] if s[0] < spans[0][1]]
            self.put(self.original[begin:span[0]])
            place, numbers = self.at, [number for number, _ in wanted[span]]
            if span[2] == 0:
                self.put("{ if (" + " && ".join(f"!::keel_switched::on({n})" for n in numbers) + ") { ")
                self.weave(span[0], span[1], inner, wanted)
                self.put(" } }")
            elif span[2] == 1:
                self.put(" != ".join(f"::keel_switched::on({n})" for n in numbers) + " != bool(")
                self.weave(span[0], span[1], inner, wanted)
                self.put(")")
            else:
                self.put("(")
                for number, mutant in wanted[span]:
                    self.put(f"::keel_switched::on({number}) ? (")
                    changed = self.at
                    self.put((self.plain[span[0]:mutant["at"]] + mutant["after"] + self.plain[mutant["end"]:span[1]]).replace("\n", " "))
                    self.changes.append((changed, self.at, number))
                    self.put(") : ")
                self.put("(")
                self.weave(span[0], span[1], inner, wanted)
                self.put("))")
            self.places.append((place, self.at, numbers))
            self.held.update(numbers)
            begin, spans = span[1], spans[1 + len(inner):]
        self.put(self.original[begin:end])

    def blamed(self, line, column):
        """Numbers of the changes that an error at this place comes from."""
        at = self.lines[min(line, len(self.lines)) - 1] + column - 1
        exact = [number for begin, end, number in self.changes if begin - 1 <= at <= end]
        if exact: return exact
        around = [place for place in self.places if place[0] <= at <= place[1]]
        return min(around, key=lambda place: place[1] - place[0])[2] if around else []

    def in_line(self, line):
        begin, end = self.lines[line - 1], self.lines[line] if line < len(self.lines) else len(self.text)
        return [number for place in self.places if place[0] < end and place[1] > begin for number in place[2]]
