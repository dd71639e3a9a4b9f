//! How the C library gives memory back.

/// Makes large buffers go back to the system as soon as they are freed. The GNU C library otherwise learns from the
/// first large one to keep all of them, once for each of the threads that read files. Once, before there are threads.
pub fn give_back_large_buffers() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const LARGE: libc::c_int = 1 << 20;
        // SAFETY: `mallopt` takes plain numbers, and no other thread is there that could allocate meanwhile. Where it
        // refuses, memory is kept longer and nothing else changes.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    }
}
