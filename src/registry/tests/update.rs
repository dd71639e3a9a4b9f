//! A session that is read anew alone: the rows are what joining all anew would make of them.

use super::*;
use crate::registry::scan::Refreshed;
use proptest::prelude::*;

/// A session of one of a few ids, with what may change.
fn session() -> impl Strategy<Value = Value> {
    let title = prop::option::of(prop::sample::select(vec!["a", "b"]));
    let parent = prop::option::of(prop::sample::select(vec!["1", "2"]));
    let workspace = prop::option::of(prop::sample::select(vec!["/a", "/b"]));
    (1..5_u32, title, parent, workspace, 0..3_i64, prop::option::of(0..4_i64)).prop_map(
        |(id, title, parent, workspace, created, updated)| {
            json!({ "id": id.to_string(), "title": title, "parent": parent, "workspace": workspace,
                "created": created, "updated": updated })
        },
    )
}

/// All that is to be told of the rows, in the order of a list.
fn rows(stored: &Stored) -> Vec<(usize, String)> {
    let shown = |row: &crate::registry::stored::Row| {
        format!("{} {:?} {:?} {:?} {:?}", row.id(), row.title, row.parent, row.workspace(), row.session)
    };
    stored.newest_first().map(|(place, row)| (stored.children(place).count(), shown(row))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn touching_is_as_good_as_joining_anew(
        files in prop::collection::vec(session(), 1..6), named in prop::option::of(1..5_u32),
        at in any::<prop::sample::Index>(), change in session()
    ) {
        let mut contents: Vec<Value> = files.iter().map(|one| sessions(std::slice::from_ref(one))).collect();
        contents.extend(named.map(|id| json!({ "names": [{ "id": id.to_string(), "title": "named" }] })));
        let mut world = world(&[&contents]);
        let before = join(&world);
        let at = at.index(files.len());
        let mut changed = files[at].clone();
        // What is written to a session mostly leaves it the same one.
        for member in ["updated", "title"] {
            changed[member] = change[member].clone();
        }
        let path = world.roots[0].join(at.to_string());
        fs::write(&path, sessions(&[changed]).to_string()).unwrap();
        if let Refreshed::Session(was, is) = world.scans[0].refresh_file(&path)
            && let Some(touched) = before.with_update(&was, &is, Harness::Goose)
        {
            prop_assert_eq!(rows(&touched), rows(&join(&world)));
        }
    }
}
