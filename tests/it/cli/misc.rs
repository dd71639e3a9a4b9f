use super::{Home, three};

#[test]
fn a_closed_output_is_no_error() {
    let (home, _live) = three();
    let temporary = home.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let commands: [&[&str]; 9] = [
        &["list"],
        &["list", "--json"],
        &["peers"],
        &["settings"],
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
            "settings",
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
fn every_subcommand_that_help_names_has_a_page() {
    let home = Home::new();
    let run = home.run(&["man", "--out", "pages/man1"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let help = home.run(&["--help"]).out;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    // Lines that a description goes on in begin deeper.
    let begins = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let named = commands.lines().filter(begins).filter_map(|line| line.split_whitespace().next());
    for command in named.filter(|command| *command != "help") {
        let page = std::fs::read_to_string(home.path().join(format!("pages/man1/tackroom-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    let page = std::fs::read_to_string(home.path().join("pages/man1/tackroom.1")).unwrap();
    assert!(page.contains("Exit codes:") && !page.contains("tackroom\\-man"));
}

#[test]
fn words_that_cannot_be_understood_say_what_can() {
    let (home, _live) = three();
    let run = home.run(&["list", "--state", "sleeping"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("the states are waiting, busy, idle, live, shutting_down, stored"), "{}", run.err);
    assert_eq!(home.run(&["nonsense"]).code, 2);
    assert!(home.run(&["--help"]).out.contains("Exit codes:"));
}
