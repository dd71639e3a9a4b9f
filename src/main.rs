//! The `tackroom` program.

fn main() -> std::process::ExitCode {
    tackroom::cli::main()
}
