//! The join, over a store that does what stores may do.

use super::*;

#[test]
fn different_sessions_of_one_id_are_told_apart_by_the_later_root() {
    let of = |title: &str, created: i64, updated: i64| json!({"id": "1", "title": title, "created": created, "updated": updated});
    let world = world(&[
        &[sessions(&[of("first", 10, 50)])],
        &[sessions(&[of("second", 20, 40)])],
        // A copy of the second, gone on, and one more.
        &[sessions(&[of("second, later", 20, 60)]), sessions(&[of("third", 30, 30)])],
    ]);
    let stored = join(&world);
    let id = |root: usize| format!("1@{}", world.roots[root].display());
    assert_eq!(
        told(&stored),
        [(id(1), Some("second, later")), ("1".to_owned(), Some("first")), (id(2), Some("third"))]
    );
    for row in 0..3 {
        assert_eq!(stored.find(Harness::Goose, stored.rows[row].id()), Some(row));
        assert_eq!(&*stored.rows[row].session.id, "1");
    }
    assert_eq!(stored.find(Harness::Goose, "1@/elsewhere"), None);
}

#[test]
fn different_sessions_of_one_id_in_one_root_are_told_apart_too() {
    let of = |created: i64| json!({"id": "1", "created": created, "updated": created});
    let world = world(&[&[], &[sessions(&[of(1)]), sessions(&[of(2)]), sessions(&[of(3)])]]);
    let stored = join(&world);
    let mut ids: Vec<_> = stored.rows.iter().map(|row| row.id().to_owned()).collect();
    ids.sort();
    let root = world.roots[1].display();
    assert_eq!(ids, ["1".to_owned(), format!("1@{root}"), format!("1@{root}/2")]);
}

#[test]
fn parents_and_names_are_those_of_the_own_root() {
    let file = |title: &str, created: i64| {
        json!({
            "sessions": [
                {"id": "1", "created": created, "updated": created},
                {"id": format!("child of {created}"), "parent": "1", "created": 3, "updated": 3},
            ],
            "names": [{"id": "1", "title": title}]
        })
    };
    let world = world(&[&[file("one", 1)], &[file("two", 2)]]);
    let stored = join(&world);
    let of = |child: &str| stored.find(Harness::Goose, child).unwrap();
    for (parent, child, title) in
        [("1".to_owned(), "child of 1", "one"), (format!("1@{}", world.roots[1].display()), "child of 2", "two")]
    {
        let parent = of(&parent);
        assert_eq!(stored.children(parent).collect::<Vec<_>>(), [of(child)]);
        assert_eq!(stored.related(&stored.rows[of(child)], "1"), Some(parent));
        assert_eq!(stored.rows[parent].title.as_deref(), Some(title));
    }
}

#[test]
fn entries_of_one_time_are_listed_once_each_whatever_their_harness() {
    let one = || sessions(&[json!({"id": "1", "updated": 7})]);
    let mut world = world(&[&[one()], &[one()]]);
    world.scans[0] = RootScan::with_store(OPENCODE.named_root(&world.roots[0]), Some(OPENCODE));
    let (_home, registry) = registry_of(world, Homes::default());
    let ids: Vec<_> = listed(&registry, &Query::default()).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["goose:1", "opencode:1"]);
}

#[test]
fn an_entry_in_a_later_root_is_found_by_its_id_and_a_profile_by_its_name() {
    let of = |profile: Option<&str>, created: i64| {
        sessions(&[json!({"id": "1", "created": created, "updated": created, "profile": profile})])
    };
    let world = world(&[&[of(None, 1)], &[of(Some("work"), 2)]]);
    let id = format!("goose:1@{}", world.roots[1].display());
    let (_home, registry) = registry_of(world, Homes::default());
    let of = |profile: &str| listed(&registry, &Query { profile: Some(profile.to_owned()), ..Query::default() });
    assert_eq!((of("work"), of("other")), (vec![(id.clone(), None)], vec![]));
    let entry = registry.snapshot(&NoProgress).unwrap().describe(&id, &Grant::all(), &[], &NoProgress).unwrap();
    assert_eq!((entry.id, entry.session_id, entry.profile), (id, "1".to_owned(), Some("work".to_owned())));
}
