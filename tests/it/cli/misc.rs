use super::three;

#[test]
fn a_closed_output_is_no_error() {
    let (home, _live) = three();
    let temporary = home.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let commands: [&[&str]; 8] = [
        &["list"],
        &["list", "--json"],
        &["peers"],
        &["doctor"],
        &["resume", "--print", "1111"],
        &["completions", "bash"],
        &["schema", "--print", "schema"],
        &["demo"],
    ];
    for words in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = home.told(home.command(words).env("TMPDIR", &temporary).stdout(writer).output().unwrap());
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{words:?}");
    }
    assert!(std::fs::read_dir(temporary).unwrap().next().is_none());
}

#[test]
fn every_shell_gets_completions_of_every_subcommand() {
    let (home, _live) = three();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = home.run(&["completions", shell]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{shell}");
        for subcommand in [
            "list",
            "watch",
            "follow",
            "peers",
            "resume",
            "attach",
            "runtime",
            "doctor",
            "demo",
            "serve",
            "schema",
            "completions",
        ] {
            assert!(run.out.contains(subcommand), "{shell} misses {subcommand}");
        }
    }
}

#[test]
fn words_that_cannot_be_understood_say_what_can() {
    let (home, _live) = three();
    let run = home.run(&["list", "--state", "sleeping"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("unknown state `sleeping`; known: waiting, busy, idle, live"), "{}", run.err);
    assert_eq!(home.run(&["nonsense"]).code, 2);
    assert!(home.run(&["--help"]).out.contains("Exit codes:"));
}
