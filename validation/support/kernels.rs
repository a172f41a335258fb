//! Information from the text of a kernel file, without a compiler.

use std::ops::Range;

/// Folders of parts of kernels. They know of threads, and Rust has no functions like theirs.
const PARTS: [&str; 12] = [
    "advection/march/",
    "advection/tile/",
    "chemistry/",
    "lattice/",
    "primitives/",
    "step_end/",
    "physics/mapping/",
    "physics/tile/",
    "physics/wsm5/column/",
    "physics/wsm5/mapping/",
    "physics/wsm5/tile/",
    "physics/wsm6/tile/",
];

/// True if a file, named by its path below `kernels/`, contains twins of Rust functions.
pub fn holds_twins(path: &str) -> bool {
    let is_header = path.rsplit_once('.').is_some_and(|(_, extension)| extension == "cuh");
    is_header && !PARTS.iter().any(|folder| path.starts_with(folder))
}

/// A device function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The enclosing namespaces, from the outermost; empty at the top level.
    pub namespaces: Vec<String>,
    /// The struct that it is a member of.
    pub object: Option<String>,
    /// Its name; operators have names such as `operator+`.
    pub name: String,
    /// The type of its result.
    pub result: String,
    /// Its arguments in their order.
    pub arguments: Vec<Argument>,
    /// Position of its name.
    pub name_range: Range<usize>,
    /// Position of its body, including braces.
    pub body: Range<usize>,
}

/// An argument of a device function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its type, such as `const Cell&` or `const real (&)[2]`.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl Function {
    /// Its name with namespaces, and for operators the types that distinguish overloads.
    pub fn path(&self) -> String {
        let places = self.namespaces.iter().chain(&self.object).map(String::as_str);
        let path = places.chain([&*self.name]).collect::<Vec<_>>().join("::");
        if self.is_operator() {
            let kinds: Vec<&str> = self.arguments.iter().map(|a| a.kind.as_str()).collect();
            return format!("{path}({})", kinds.join(", "));
        }
        path
    }

    /// True for operators.
    pub fn is_operator(&self) -> bool {
        self.name.starts_with("operator")
    }
}

/// All device functions of a file. `code` is its text with comments and literals blanked.
pub fn device_functions(code: &str) -> Vec<Function> {
    const MARK: &str = "__device__ inline ";
    code.match_indices(MARK)
        .filter_map(|(start, _)| {
            let after = start + MARK.len();
            let opening = after + code[after..].find('(')?;
            let head = code[after..opening].trim_end();
            let name = head.rsplit([' ', '\n']).next()?;
            let name_start = after + head.len() - name.len();
            let closing = opening + enclosed(&code[opening..]).len();
            let body = closing + code[closing..].find('{')?;
            Some(Function {
                namespaces: opened(&code[..start], "namespace "),
                object: opened(&code[..start], "struct ").pop(),
                name: name.to_owned(),
                result: head[..head.len() - name.len()].trim().to_owned(),
                arguments: arguments(&code[opening + 1..closing - 1]),
                name_range: name_start..name_start + name.len(),
                body: body..body + enclosed(&code[body..]).len(),
            })
        })
        .collect()
}

/// The text from an opening bracket to the matching closing one.
pub fn enclosed(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at + c.len_utf8()];
        }
    }
    text
}

/// The parts between the commas that are in no bracket.
pub fn separated(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn arguments(text: &str) -> Vec<Argument> {
    let argument = |part: &str| {
        // A reference to an array has its name in brackets.
        let end = part.find(')').unwrap_or(part.len());
        let name = part[..end].rsplit([' ', '&', '*']).next().unwrap_or_default();
        let kind = [&part[..end - name.len()], &part[end..]].concat();
        Argument { kind: kind.trim().to_owned(), name: name.to_owned() }
    };
    separated(text).into_iter().map(argument).collect()
}

/// The names that a keyword opens and that are not closed before the end of a text.
fn opened(code: &str, keyword: &str) -> Vec<String> {
    let names = code.match_indices(keyword).filter_map(|(at, word)| {
        let (name, _) = code[at + word.len()..].split_once('{')?;
        let opening = at + word.len() + name.len();
        let (mut depth, mut closed) = (0, false);
        for c in code[opening..].chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
            closed |= depth == 0;
        }
        (!closed).then(|| name.trim().split("::").map(str::to_owned).collect::<Vec<_>>())
    });
    names.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_with_their_place_and_arguments() {
        let text = "namespace other { int x; }\nnamespace warm {\n\
             __device__ inline real praut(\n    const Wsm5Params& p, real qc)\n{ if (a) { b(); } return 0; }\n\
             }\n__device__ inline Complex operator*(Complex a, real b) { return a; }\n";
        let found = device_functions(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].path(), "warm::praut");
        assert_eq!(found[0].result, "real");
        let names: Vec<&str> = found[0].arguments.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["p", "qc"]);
        assert_eq!(found[0].arguments[0].kind, "const Wsm5Params&");
        assert_eq!(&text[found[0].body.clone()], "{ if (a) { b(); } return 0; }");
        assert_eq!(&text[found[0].name_range.clone()], "praut");
        assert_eq!(found[1].path(), "operator*(Complex, real)");
    }

    #[test]
    fn members_and_arrays_are_found() {
        let text = "struct Faces {\n real west;\n\
             __device__ inline real sum(const real (&q)[2], real& x) const { return q[0]; }\n};\n\
             __device__ inline real f() { return 0; }\n";
        let found = device_functions(text);
        assert_eq!(found[0].path(), "Faces::sum");
        assert_eq!(
            found[0].arguments,
            [
                Argument { kind: "const real (&)[2]".to_owned(), name: "q".to_owned() },
                Argument { kind: "real&".to_owned(), name: "x".to_owned() },
            ]
        );
        assert_eq!(found[1].path(), "f");
    }

    #[test]
    fn commas_in_brackets_separate_nothing() {
        assert_eq!(
            separated("a: &[R; 2], f: impl Fn(A, B) -> C<D, E>, c"),
            ["a: &[R; 2]", "f: impl Fn(A, B) -> C<D, E>", "c"]
        );
    }
}
