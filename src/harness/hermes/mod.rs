//! Hermes: `state.db` in its home, and in each of `profiles/` below it.

mod conversation;
mod database;
mod origin;
mod record;
#[cfg(test)]
mod tests;

use super::jsonl::HeadTail;
use super::{
    Activities, Details, End, Environment, Finder, Found, Home, Live, Page, PageRequest, Progress, ReadError, Reading,
    Root, Run, Session, Source, Store, Wanted, ids,
};
use crate::limits;
use crate::platform::sqlite;
use crate::protocol::{ActivitySource, Harness, Resume, RootOrigin};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const DATABASE: &str = "state.db";
const PROFILES: &str = "profiles";

/// The store of Hermes.
pub(super) struct Hermes;

impl Store for Hermes {
    fn harness(&self) -> Harness {
        Harness::Hermes
    }

    fn roots(&self, environment: &Environment<'_>) -> Vec<Root> {
        // Only Windows has the first of them.
        let local = environment.path("LOCALAPPDATA").map(|data| data.join("hermes"));
        let default = local.or_else(|| environment.home().map(|home| home.join(".hermes")));
        let home = match environment.path("HERMES_HOME") {
            Some(named) => {
                let path = home(&named);
                Some(Home { usual: default.as_ref() == Some(&path), path, origin: RootOrigin::Environment })
            }
            None => default.map(|path| Home { path, origin: RootOrigin::Default, usual: true }),
        };
        home.iter().map(|home| home.root(Harness::Hermes, "")).collect()
    }

    fn named_root(&self, path: &Path) -> Root {
        let path = path.parent().filter(|_| path.ends_with(DATABASE)).unwrap_or(path);
        Home { path: home(path), origin: RootOrigin::Flag, usual: false }.root(Harness::Hermes, "")
    }

    fn walk(&self, root: &Root, finder: &mut Finder) {
        let mut homes = vec![root.path.clone()];
        let profiles = finder.entries(&root.path.join(PROFILES));
        homes.extend(profiles.into_iter().filter(Found::is_dir).map(|profile| profile.path));
        for home in homes {
            for found in finder.entries(&home) {
                if found.name == DATABASE {
                    let log = sqlite::log_stamp(&found.path);
                    finder.source(found, log);
                }
            }
        }
    }

    fn read(&self, source: &Source, _: &mut HeadTail) -> Result<Reading, ReadError> {
        database::read(source, profile(&source.path))
    }

    fn details(&self, _: &[Root], session: &Session, wanted: Wanted) -> Result<Details, ReadError> {
        conversation::details(session, wanted)
    }

    fn load(&self, _: &[Root], session: &Session, request: &PageRequest<'_>) -> Result<Page, ReadError> {
        conversation::load(session, request)
    }

    /// A delegation names the process that has the session which it comes from. Gateways tell how many sessions they are at,
    /// and not which.
    fn live(&self, _: &Root, sessions: &mut dyn Iterator<Item = &Session>) -> Activities {
        let live = |session: &Session| {
            let pid = session.runs.iter().find_map(Run::owner)?;
            let workspace = session.workspace.clone();
            Some(Live { workspace, ..Live::new(Harness::Hermes, &session.id, ActivitySource::Process, pid) })
        };
        Activities { sessions: sessions.filter_map(live).collect(), ..Activities::default() }
    }

    fn end(&self, session: &Session, _: &dyn Progress) -> Result<End, ReadError> {
        conversation::end(session)
    }

    fn unsettled(&self, _: &Session) -> usize {
        limits::FOLLOW_ROWS
    }

    fn resume(&self, root: &Root, session: &Session) -> Option<Resume> {
        // A profile that was made the active one would else be taken.
        let root_profile = || root.home.join("active_profile").exists().then_some("default");
        let profile = profile(&session.location).or_else(root_profile);
        let choice = profile.iter().flat_map(|profile| ["--profile", profile]);
        let argv = ["hermes"].into_iter().chain(choice).chain(["--resume", &session.id]).map(str::to_owned).collect();
        let home = root.home.to_str()?;
        let plain = ids::is_usable(&session.id) && profile.is_none_or(ids::is_usable);
        plain.then(|| Resume {
            argv,
            cwd: session.workspace.as_deref().map(str::to_owned),
            env: (!root.usual).then(|| BTreeMap::from([("HERMES_HOME".to_owned(), home.to_owned())])),
        })
    }
}

/// The home that a path is, or that the profile belongs to which it is.
fn home(path: &Path) -> PathBuf {
    let profiles = path.parent().filter(|parent| parent.ends_with(PROFILES));
    profiles.and_then(Path::parent).unwrap_or(path).to_owned()
}

/// The profile that a database belongs to; `None` for that of the home itself.
fn profile(database: &Path) -> Option<&str> {
    let directory = database.parent()?;
    directory.parent().filter(|parent| parent.ends_with(PROFILES))?;
    directory.file_name()?.to_str()
}
