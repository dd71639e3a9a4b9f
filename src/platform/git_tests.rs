//! Against repositories that git itself made.

use super::*;
use std::fs;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A directory, links resolved, with a repository `app` in it.
fn place_with_app() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    init(&top.join("app"));
    (temp, top)
}

fn run(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    // Git itself names a repository in the environment where it runs tests from a hook.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS"]
    {
        command.env_remove(name);
    }
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@example.com");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    command.args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]);
    command.args(args).current_dir(dir).stdin(Stdio::null()).output().unwrap()
}

fn git(dir: &Path, args: &[&str]) {
    let output = run(dir, args);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn init(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    git(dir, &["init", "-q"]);
    git(dir, &["commit", "-q", "--allow-empty", "-m", "first"]);
}

fn add_origin(dir: &Path, url: &str) {
    git(dir, &["remote", "add", "origin", url]);
}

#[track_caller]
fn assert_family(a: &Path, b: &Path, expected: bool) {
    let (one, other) = (Family::of(a), Family::of(b));
    assert_eq!(one.shares(&other), expected, "{one:?}\n{other:?}");
    assert_eq!(other.shares(&one), expected, "the other way\n{one:?}\n{other:?}");
}

#[test]
fn a_checkout_has_root_branch_and_origin() {
    let (_temp, top) = place_with_app();
    let app = top.join("app");
    fs::create_dir_all(app.join("src/deep")).unwrap();
    let plain = Checkout { root: app.clone(), branch: Some("main".into()), origin: None };
    assert_eq!(checkout(&app.join("src/deep")), Some(plain.clone()));
    assert_eq!(checkout(&app.join("src/gone/for/good")), Some(plain.clone()), "a deleted workspace");
    assert_eq!(checkout(&app.join(".git/hooks")), Some(plain), "within .git");

    add_origin(&app, "https://someone:token@example.com/app.git");
    git(&app, &["checkout", "-q", "-b", "topic/one"]);
    let found = checkout(&app).unwrap();
    assert_eq!(found.branch.as_deref(), Some("topic/one"));
    assert_eq!(found.origin.as_deref(), Some("https://example.com/app.git"));

    git(&app, &["checkout", "-q", "--detach"]);
    assert_eq!(checkout(&app).unwrap().branch, None);
    fs::write(app.join(".git/HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    assert_eq!(checkout(&app).unwrap().branch, None, "a reftable");
}

#[test]
fn no_repository_no_checkout() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir_all(temp.path().join(".git/refs")).unwrap();
    assert_eq!(checkout(temp.path()), None);
    fs::write(temp.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(checkout(temp.path()), None, "no objects");
    assert_eq!(checkout(Path::new("relative")), None);
    assert_eq!(checkout(Path::new("")), None);
    assert_eq!(checkout(&temp.path().join("x/".repeat(1 << 20))), None);
}

#[test]
fn worktrees_are_of_the_family() {
    let (_temp, top) = place_with_app();
    let app = top.join("app");
    add_origin(&app, "https://example.com/app.git");
    let (inside, elsewhere) = (app.join("trees/inside"), top.join("far/elsewhere"));
    git(&app, &["worktree", "add", "-q", "-b", "one", "trees/inside"]);
    git(&app, &["worktree", "add", "-q", "-b", "two", "../far/elsewhere"]);

    let found = checkout(&elsewhere.join("gone")).unwrap();
    let origin = Some("https://example.com/app.git".into());
    assert_eq!(found, Checkout { root: elsewhere.clone(), branch: Some("two".into()), origin });
    assert_eq!(checkout(&inside).unwrap().root, inside);

    git(&app, &["remote", "remove", "origin"]);
    assert_family(&app, &elsewhere, true);
    assert_family(&inside, &elsewhere, true);
    // As newer versions of git write it where asked to.
    fs::write(elsewhere.join(".git"), "gitdir: ../../app/.git/worktrees/elsewhere\n").unwrap();
    assert_family(&inside, &elsewhere, true);
}

#[test]
fn submodules_are_of_the_family() {
    let (_temp, top) = place_with_app();
    let (app, library, deep) = (top.join("app"), top.join("library"), top.join("deep"));
    init(&deep);
    init(&library);
    git(&library, &["submodule", "--quiet", "add", "../deep", "parts/deep"]);
    git(&library, &["commit", "-q", "-m", "deep"]);
    git(&app, &["submodule", "--quiet", "add", "../library", "parts/library"]);
    git(&app, &["submodule", "--quiet", "add", "../deep", "parts/sibling"]);
    git(&app, &["commit", "-q", "-m", "parts"]);
    git(&app, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    git(&app, &["worktree", "add", "-q", "../tree"]);
    let nested = app.join("parts/library/parts/deep");
    assert_eq!(checkout(&nested).unwrap().root, nested);

    // What they were cloned from is gone, so that nothing but where they are makes them one family.
    for gone in [&deep, &library] {
        fs::remove_dir_all(gone).unwrap();
    }
    for part in ["parts/library", "parts/library/parts/deep", "parts/sibling"] {
        assert_family(&app, &app.join(part), true);
    }
    assert_family(&app.join("parts/library"), &app.join("parts/sibling"), true);
    assert_family(&nested, &top.join("tree"), true);
}

#[test]
fn a_submodule_of_a_worktree_is_of_the_family() {
    let (_temp, top) = place_with_app();
    let (app, tree) = (top.join("app"), top.join("tree"));
    init(&top.join("library"));
    git(&app, &["worktree", "add", "-q", "../tree"]);
    git(&tree, &["submodule", "--quiet", "add", "../library", "library"]);
    assert_family(&app, &tree.join("library"), true);
}

#[test]
fn a_shared_library_does_not_join_its_users() {
    let (_temp, top) = place_with_app();
    let (app, other, library) = (top.join("app"), top.join("other"), top.join("library"));
    init(&other);
    init(&library);
    for user in [&app, &other] {
        git(user, &["submodule", "--quiet", "add", "../library", "library"]);
    }
    assert_family(&app, &other, false);
    assert_family(&app, &other.join("library"), false);
    assert_family(&app, &library, false);
    assert_family(&app.join("library"), &other.join("library"), true);
    assert_family(&app.join("library"), &library, true);
}

#[test]
fn a_bare_repository_and_its_worktrees_are_one_family() {
    let (_temp, top) = place_with_app();
    let bare = top.join("bare.git");
    git(&top, &["clone", "-q", "--bare", "app", "bare.git"]);
    git(&bare, &["worktree", "add", "-q", "../tree", "-b", "topic"]);
    let found = checkout(&bare.join("refs")).unwrap();
    assert_eq!((found.root.as_path(), found.branch.as_deref()), (bare.as_path(), Some("main")));
    assert_family(&bare, &top.join("tree"), true);
    assert_family(&top.join("app"), &top.join("tree"), true);
}

#[test]
fn clones_by_path_are_followed_to_where_they_came_from() {
    let (_temp, top) = place_with_app();
    let app = top.join("app");
    git(&top, &["clone", "-q", "--bare", "app", "hub.git"]);
    git(&top, &["clone", "-q", "hub", "one"]);
    git(&top, &["clone", "-q", &format!("file://{}/hub.git", top.display()), "two"]);
    git(&top, &["clone", "-q", "one", "three"]);
    for clone in ["hub.git", "one", "two", "three"] {
        assert_family(&app, &top.join(clone), true);
    }
    assert_family(&top.join("two"), &top.join("three"), true);

    add_origin(&app, "git@example.com:team/app.git");
    init(&top.join("far"));
    add_origin(&top.join("far"), "https://example.com/team/app");
    assert_family(&top.join("far"), &top.join("three"), true);

    git(&app, &["remote", "set-url", "origin", "../three"]);
    assert_family(&app, &top.join("two"), true);
    assert_family(&top.join("far"), &top.join("three"), false);
}

#[test]
fn clones_of_one_origin_are_one_family() {
    let (_temp, top) = place_with_app();
    let (app, other) = (top.join("app"), top.join("other"));
    init(&other);
    assert_family(&app, &other, false);
    add_origin(&app, "git@example.com:team/app.git");
    add_origin(&other, "https://token@EXAMPLE.com/team/app/");
    assert_family(&app, &other, true);
    git(&other, &["remote", "set-url", "origin", "https://example.com/team/other"]);
    assert_family(&app, &other, false);
    for (dir, url) in [(&app, "/nowhere/app.git"), (&other, "file:///nowhere/app.git/")] {
        git(dir, &["remote", "set-url", "origin", url]);
    }
    assert_family(&app, &other, true);
}

#[test]
fn a_directory_is_the_family_of_all_below_it() {
    let (_temp, top) = place_with_app();
    fs::create_dir_all(top.join("plain/below")).unwrap();
    let plain = Family::of(&top.join("plain"));
    for (path, expected) in
        [("plain", true), ("plain/below", true), ("plain/gone", true), ("plainer", false), ("app", false)]
    {
        assert_eq!(plain.shares(&Family::of(&top.join(path))), expected, "{path}");
    }
    assert!(!Family::of(&top.join("plain/below")).shares(&plain));
    assert!(Family::of(&top).shares(&Family::of(&top.join("app"))));
    assert!(!Family::of(&top.join("app")).shares(&Family::of(&top)));
    assert_family(&top.join("app/gone"), &top.join("app/lost"), true);
    for nothing in ["", "relative"] {
        assert!(!Family::of(Path::new(nothing)).shares(&Family::of(Path::new(nothing))));
    }
}

#[cfg(unix)]
#[test]
fn links_are_resolved() {
    use std::os::unix::fs::symlink;
    let (_temp, top) = place_with_app();
    fs::create_dir(top.join("app/src")).unwrap();
    symlink(top.join("app/src"), top.join("link")).unwrap();
    assert_eq!(checkout(&top.join("link/gone")).unwrap().root, top.join("app"));
    assert_family(&top.join("link"), &top.join("app"), true);
    symlink("loop", top.join("loop")).unwrap();
    assert_eq!(checkout(&top.join("loop/x")), None);
}

#[cfg(unix)]
#[test]
fn a_fifo_is_not_waited_for() {
    let (_temp, top) = place_with_app();
    let fifo = |path: &Path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let git_dir = top.join("app/.git");
    fs::remove_file(git_dir.join("config")).unwrap();
    fifo(&git_dir.join("config"));
    assert_eq!(checkout(&top.join("app")).unwrap().origin, None);
    fifo(&git_dir.join("commondir"));
    assert!(checkout(&top.join("app")).is_some());
    fs::remove_file(git_dir.join("HEAD")).unwrap();
    fifo(&git_dir.join("HEAD"));
    assert_eq!(checkout(&top.join("app")), None);
    fs::create_dir(top.join("bad")).unwrap();
    fifo(&top.join("bad/.git"));
    assert_eq!(checkout(&top.join("bad")), None);
}

#[test]
fn a_git_file_that_leads_nowhere_is_passed_over() {
    let (_temp, top) = place_with_app();
    let broken = top.join("app/broken");
    fs::create_dir_all(broken.join("again")).unwrap();
    fs::write(broken.join("again/.git"), "gitdir: ../.git").unwrap();
    for content in ["gitdir: .git", "gitdir: again/.git", "gitdir: ", "gitdir: /nowhere\0", "", "nonsense\n"] {
        fs::write(broken.join(".git"), content).unwrap();
        assert_eq!(checkout(&broken.join("again")).unwrap().root, top.join("app"), "{content}");
    }
    fs::write(broken.join(".git"), format!("gitdir: {}", "../".repeat(1 << 20))).unwrap();
    assert_eq!(checkout(&broken).unwrap().root, top.join("app"));
}

#[test]
fn repositories_that_lead_to_each_other_end() {
    let (_temp, top) = place_with_app();
    let outer = top.join("outer");
    git(&top, &["clone", "-q", "--bare", "app", "outer"]);
    git(&top, &["clone", "-q", "--bare", "app", "outer/modules/inner"]);
    fs::write(outer.join("commondir"), "modules/inner\n").unwrap();
    let inner = outer.join("modules/inner");
    git(&inner, &["remote", "set-url", "origin", "."]);
    assert_family(&outer, &inner, true);
    assert!(Family::of(&inner).keys.len() <= limits::GIT_HOPS.pow(2));
}

#[test]
fn hostile_content_is_bounded() {
    let (_temp, top) = place_with_app();
    let app = top.join("app");
    let section = b"[remote \"origin\"]\n\turl = ";
    let config = |content: &[u8]| fs::write(app.join(".git/config"), [section, content].concat()).unwrap();
    config(b"/srv/\xff\xfe.git\n");
    assert_eq!(checkout(&app).unwrap().origin.as_deref(), Some("/srv/\u{fffd}\u{fffd}.git"));
    config(&vec![b'x'; 10 << 20]);
    assert_eq!(checkout(&app).unwrap().origin, None);
    fs::write(app.join(".git/HEAD"), [b"ref: refs/heads/".as_slice(), &vec![b'x'; 10 << 20]].concat()).unwrap();
    assert_eq!(checkout(&app).unwrap().branch, None);
    for head in [b"ref: refs/heads/\xff".as_slice(), b"ref: refs/heads/a\nb", b"ref: refs/heads/", b""] {
        fs::write(app.join(".git/HEAD"), head).unwrap();
        assert_eq!(checkout(&app).unwrap().branch, None);
    }
}
