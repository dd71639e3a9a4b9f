/// Returns whether the brackets of a JSON text nest deeper than `levels`. serde_json limits the depth of what it
/// builds, but not of what it skips.
pub fn nested_deeper(json: &[u8], levels: usize) -> bool {
    if memchr::memchr2_iter(b'[', b'{', json).take(levels + 1).count() <= levels {
        return false;
    }
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > levels {
            return true;
        }
    }
    false
}
