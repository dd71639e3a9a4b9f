# `just` lists the recipes.
_default:
    @just --list

# The fast loop: formatting, layering, lints and unit tests.
check:
    .ci/run format layers lints unit

# Everything that CI runs. Pass the names of steps to run only those: `just ci tests book`.
ci *steps:
    .ci/run {{ steps }}

# Wire tests whose name contains FILTER, such as `just wire session_load`.
wire filter="":
    cargo test --test it -- {{ filter }}

# Regenerate what is derived from the code: schema, reference, tables, examples, picture, client types.
refresh:
    docs/tools/refresh

# Measure; NAME is a file in benches/.
bench name:
    cargo bench --bench {{ name }}

# Build the documentation into target/book.
book:
    docs/tools/build

