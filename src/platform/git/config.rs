//! Git's configuration format, as far as one value needs it.

/// The first value of a variable that is not blank. `name` is flat, as `git config` takes it: `remote.origin.url`.
///
/// Git refuses a file with an error in it as a whole; here what stands before the error counts.
pub(super) fn value(config: &[u8], name: &str) -> Option<String> {
    let rest = config.strip_prefix(b"\xef\xbb\xbf").unwrap_or(config);
    let mut variables = Variables { rest, section: Vec::new() };
    let (_, value) = variables.find(|(found, value)| found == name.as_bytes() && !value.is_empty())?;
    Some(String::from_utf8_lossy(&value).into_owned())
}

/// The variables of a file, each with its flat name. Ends at the first error.
struct Variables<'a> {
    rest: &'a [u8],
    section: Vec<u8>,
}

impl Iterator for Variables<'_> {
    type Item = (Vec<u8>, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            match self.byte() {
                b'#' | b';' => while self.byte() != b'\n' {},
                b'[' => self.section = self.read_section()?,
                first if first.is_ascii_alphabetic() => return self.read_variable(first),
                byte if is_space(byte) => {}
                _ => break,
            }
        }
        None
    }
}

impl Variables<'_> {
    /// The next byte. Lines may end as on Windows, and the end of the file ends a line.
    fn byte(&mut self) -> u8 {
        let (byte, rest) = match self.rest {
            [b'\r', b'\n', rest @ ..] => (b'\n', rest),
            [byte, rest @ ..] => (*byte, rest),
            [] => (b'\n', self.rest),
        };
        self.rest = rest;
        byte
    }

    /// `[section "subsection"]` after its bracket. Only what is quoted keeps its case.
    fn read_section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            match self.byte() {
                b']' => return Some(name),
                byte if is_key(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase()),
                b' ' | b'\t' => break,
                _ => return None,
            }
        }
        name.push(b'.');
        while matches!(self.rest, [b' ' | b'\t', ..]) {
            self.byte();
        }
        if self.byte() != b'"' {
            return None;
        }
        loop {
            let byte = match self.byte() {
                b'"' => return (self.byte() == b']').then_some(name),
                b'\\' => self.byte(),
                byte => byte,
            };
            if byte == b'\n' {
                return None;
            }
            name.push(byte);
        }
    }

    /// `key = value`, or a key alone, after the key's first letter.
    fn read_variable(&mut self, first: u8) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut name = self.section.clone();
        name.extend([b'.', first.to_ascii_lowercase()]);
        let mut byte = self.byte();
        while is_key(byte) {
            name.push(byte.to_ascii_lowercase());
            byte = self.byte();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.byte();
        }
        match byte {
            b'=' => Some((name, self.read_value()?)),
            b'\n' => Some((name, Vec::new())),
            _ => None,
        }
    }

    /// A value: quoted in parts, with escapes, perhaps over several lines, without the space around it.
    fn read_value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut quoted = false;
        let mut end = 0;
        loop {
            match self.byte() {
                b'\n' if quoted => return None,
                b'\n' => break,
                b'#' | b';' if !quoted => {
                    while self.byte() != b'\n' {}
                    break;
                }
                byte if is_space(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                b'"' => quoted = !quoted,
                b'\\' => match self.byte() {
                    b'\n' => continue,
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return None,
                },
                byte => value.push(byte),
            }
            end = value.len();
        }
        value.truncate(end);
        Some(value)
    }
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(config: &str) -> Option<String> {
        value(config.as_bytes(), "remote.origin.url")
    }

    #[test]
    fn reads_what_git_reads() {
        for (config, expected) in [
            ("[remote \"origin\"]\n\turl = /srv/app.git\n", "/srv/app.git"),
            ("[remote \"origin\"] url=x", "x"),
            ("\u{feff}[REMOTE \t\"origin\"]\r\n  URL\t=  x  \r\n", "x"),
            ("[remote.Origin]\nurl = x", "x"),
            ("[remote \"origin\"]\nurl = a b  # comment", "a b"),
            ("[remote \"origin\"]\nurl = a;b", "a"),
            ("[remote \"origin\"]\nurl = \"a;b # \" c ", "a;b #  c"),
            ("[remote \"origin\"]\nurl = a\\\n  b", "a  b"),
            ("[remote \"origin\"]\r\nurl = a\\\r\nb\r\n", "ab"),
            ("[remote \"origin\"]\nurl = a\\\\b\\\"c\\td\\ne\\b", "a\\b\"c\td\ne\u{8}"),
            ("[remote \"ori\\gin\"]\nurl = x", "x"),
            ("# [core]\n; more\n[core]\n\tbare\n[remote \"origin\"]\nfetch = y\nurl\nurl =\nurl = x\nurl = z", "x"),
            ("[remote \"other\"]\nurl = y\n[remote \"origin\"]\nurl = x", "x"),
            ("[remote \"origin\"]\nurl = x\n[broken", "x"),
        ] {
            assert_eq!(url(config).as_deref(), Some(expected), "{config}");
        }
    }

    #[test]
    fn finds_nothing_elsewhere_nor_behind_an_error() {
        for config in [
            "",
            "url = x",
            "[remote \"Origin\"]\nurl = x",
            "[remote \"origin\"]\npushurl = x",
            "[remote \"origin\"]\n# url = x",
            "[remote \"origin\"]\nurl = \"x\n",
            "[remote \"origin\"]\nurl = \\x",
            "[remote \"origin\" ]\nurl = x",
            "[remote \"ori\ngin\"]\n[remote \"origin\"]\nurl = x",
            "[remote \"origin",
            "[remote origin]\nurl = x",
            "[core]\n= 1\n[remote \"origin\"]\nurl = x",
        ] {
            assert_eq!(url(config), None, "{config}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), proptest::sample::select(b"[]\"\\\n\r =#;.u".to_vec())], 0..200,
            ),
        ) {
            value(&bytes, "remote.origin.url");
            value(&[b"[remote \"origin\"]\nurl =", bytes.as_slice()].concat(), "remote.origin.url");
        }

        #[test]
        fn a_quoted_value_comes_back(text in "[ -~\t\n]{1,60}") {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            prop_assert_eq!(url(&format!("[remote \"origin\"]\nurl = \"{quoted}\"  # so")), Some(text));
        }
    }
}
