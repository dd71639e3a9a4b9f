use super::*;
use proptest::prelude::*;

const KEY: &str = "crossSessionInbound";

fn document(text: &str) -> Document<'_> {
    Document::parse(text.as_bytes()).unwrap()
}

fn set(text: &str, value: &str) -> String {
    document(text).with(KEY, value)
}

fn reset(text: &str) -> String {
    document(text).without(KEY)
}

#[test]
fn a_new_member_is_written_as_the_others_are() {
    for (before, after) in [
        ("{}", r#"{"K": "hold"}"#),
        ("{ }", r#"{ "K": "hold" }"#),
        ("{\n}\n", "{\n  \"K\": \"hold\"\n}\n"),
        ("{\r\n}", "{\r\n  \"K\": \"hold\"\r\n}"),
        (r#"{"a":1}"#, r#"{"a":1,"K":"hold"}"#),
        (r#"{"a": 1}"#, r#"{"a": 1, "K": "hold"}"#),
        (r#"{ "a":1 }"#, r#"{ "a":1,"K":"hold" }"#),
        (r#"{"a":1, "b":2}"#, r#"{"a":1, "b":2, "K":"hold"}"#),
        (
            "{\n    \"a\": {\n        \"b\": 1\n    }\n}\n",
            "{\n    \"a\": {\n        \"b\": 1\n    },\n    \"K\": \"hold\"\n}\n",
        ),
        ("{\r\n\t\"a\" : 1\r\n}", "{\r\n\t\"a\" : 1,\r\n\t\"K\": \"hold\"\r\n}"),
        ("{\"a\":\n1,\n\n\n \"b\":\n2}", "{\"a\":\n1,\n\n\n \"b\":\n2,\n \"K\": \"hold\"}"),
        ("\u{feff}{\n  \"a\": 1\n}", "\u{feff}{\n  \"a\": 1,\n  \"K\": \"hold\"\n}"),
    ] {
        let after = after.replace("\"K\"", &format!("\"{KEY}\""));
        assert_eq!(set(before, "hold"), after);
        assert_eq!(reset(&after), before, "back");
    }
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    let of =
        |value: &str| format!("{{\n  \"z\": 1.10,\n  \"cross\\u0053essionInbound\" :\t{value} ,\n  \"a\": [1e400]\n}}");
    for old in ["\"hold\"", "true", "null", "{\"crossSessionInbound\": 1}", "\"\\ud800\""] {
        assert_eq!(document(&of(old)).value(KEY), Some(old));
        assert_eq!(set(&of(old), "accept"), of("\"accept\""));
    }
}

#[test]
fn the_last_of_several_counts_and_all_of_them_go() {
    let text = format!("{{\"{KEY}\": 1, \"a\": 2, \"{KEY}\": 3 , \"b\": 4,\"{KEY}\": 5 }}");
    assert_eq!(document(&text).value(KEY), Some("5"));
    assert_eq!(set(&text, "hold"), text.replace('5', "\"hold\""));
    assert_eq!(reset(&text), r#"{"a": 2 , "b": 4 }"#);
    assert_eq!(reset(&format!("{{\n \"{KEY}\": 1,\n \"{KEY}\": 2\n}}")), "{\n}");
    assert_eq!(reset(&format!("{{ \"{KEY}\": 1, \"{KEY}\": 2, \"a\": 3 }}")), r#"{ "a": 3 }"#);
}

#[test]
fn what_claude_code_would_not_read_is_refused() {
    for text in [
        "",
        " \n",
        "\u{feff}",
        "[]",
        "null",
        "\"a\"",
        "{",
        "{\"a\":1",
        "{\"a\":1,}",
        "{,}",
        "{\"a\" 1}",
        "{'a':1}",
        "{a:1}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":0x1}",
        "{\"a\":NaN}",
        "{\"a\":\"\n\"}",
        "{\"\n\":1}",
        "{\"a\":1}}",
        "{\"a\":1} x",
        "{\"a\":1}\0",
        "// c\n{}",
        "{/* c */}",
        "{\"a\":\"\\x\"}",
        "{\"a\":tru}",
        "\u{feff}\u{feff}{}",
        "{\u{a0}}",
    ] {
        assert!(Document::parse(text.as_bytes()).is_err(), "{text:?}");
    }
    assert!(Document::parse(b"{\"a\":\"\xff\"}").is_err());
}

#[test]
fn what_is_unusual_but_json_is_kept() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for value in [&deep, "12345678901234567890123", "-0.0", "1E400", "\"\\ud800\\u0000\"", "\"\\/\u{2028}\""] {
        let text = format!("{{\"\\udfff\":{value},\"a\" :{value}}}");
        let with = set(&text, "hold");
        assert_eq!(with, format!("{{\"\\udfff\":{value},\"a\" :{value},\"{KEY}\":\"hold\"}}"));
        assert_eq!(reset(&with), text);
    }
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof!["[ \t]{0,2}", "\n[ \t]{0,4}", "(\r\n){1,2}[ ]{0,4}", "[ \t\r\n]{0,3}"]
}

fn key() -> impl Strategy<Value = String> {
    let ours = r#""(crossSessionInbound|c\\u0072ossSessionInbound)""#;
    prop_oneof![4 => r#""[a-z{}:,\[\] é]{0,3}(\\"|\\\\|\\u12aF)?""#, 1 => ours]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        key(),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?",
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("\"accept\"".to_owned()),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| prop_oneof![object(inner.clone()), list('[', inner.boxed(), ']')])
}

fn list(open: char, inner: BoxedStrategy<String>, close: char) -> impl Strategy<Value = String> {
    let items = prop::collection::vec((space(), inner, space()).prop_map(|(a, item, b)| a + &item + &b), 0..4);
    (items, space()).prop_map(move |(items, empty)| {
        let inside = if items.is_empty() { empty } else { items.join(",") };
        format!("{open}{inside}{close}")
    })
}

fn object(inner: impl Strategy<Value = String> + 'static) -> BoxedStrategy<String> {
    let member = (key(), space(), space(), inner).prop_map(|(key, a, b, value)| format!("{key}{a}:{b}{value}"));
    list('{', member.boxed(), '}').boxed()
}

fn text() -> impl Strategy<Value = String> {
    (any::<bool>(), space(), object(value()), space()).prop_map(|(bom, before, object, after)| {
        (if bom { "\u{feff}" } else { "" }).to_owned() + &before + &object + &after
    })
}

fn members(text: &str) -> Vec<(String, String)> {
    document(text).members.iter().map(|member| (member.key.to_owned(), member.value.to_owned())).collect()
}

fn others(text: &str) -> Vec<(String, String)> {
    let document = document(text);
    let kept = document.members.iter().filter(|member| !member.is(KEY));
    kept.map(|member| (member.key.to_owned(), member.value.to_owned())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn setting_changes_the_bytes_of_the_value_and_nothing_else(text in text()) {
        let new = set(&text, "hold");
        prop_assert_eq!(document(&new).value(KEY), Some("\"hold\""));
        match document(&text).value(KEY) {
            Some(old) => {
                let at = document(&text).offset(old);
                let expected = format!("{}\"hold\"{}", &text[..at], &text[at + old.len()..]);
                prop_assert_eq!(new, expected);
            }
            None => {
                // One piece is put in; before and behind it all is as it was.
                let piece = new.len() - text.len();
                let put_in = (0..=text.len()).any(|at| {
                    text.is_char_boundary(at) && new.starts_with(&text[..at]) && new.ends_with(&text[at..])
                });
                prop_assert!(piece > 0 && put_in, "{:?}", new);
                let mut expected = members(&text);
                expected.push((format!("\"{KEY}\""), "\"hold\"".to_owned()));
                prop_assert_eq!(members(&new), expected);
                let lone = |text: &str| text.replace("\r\n", "").contains('\n');
                prop_assert!(lone(&text) || !lone(&new), "another newline style: {:?}", new);
            }
        }
    }

    #[test]
    fn resetting_undoes_setting(text in text()) {
        let absent = reset(&text);
        prop_assert_eq!(document(&absent).value(KEY), None);
        prop_assert_eq!(others(&text), members(&absent));
        prop_assert_eq!(reset(&absent), absent.as_str());
        prop_assert_eq!(reset(&set(&absent, "hold")), absent.as_str());
        prop_assert_eq!(reset(&set(&set(&absent, "hold"), "accept")), absent);
    }
}
