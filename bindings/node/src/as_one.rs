//! What is shared inside and by nobody outside.

/// Something that moves from thread to thread as a whole.
///
/// A converter shares notes between its writer and its ledger (`Rc`), which keeps the compiler from letting it go to another thread. Both live
/// inside it: no counted reference leaves it, and no thread keeps anything of it.
#[derive(Debug)]
pub(crate) struct AsOne<T>(pub(crate) T);

// SAFETY: only converters, and readers of turns that are made of one, are wrapped. All owners of what they count references to move with them,
// their readers are `Send` by themselves, and they are behind a mutex: two threads never count at the same time.
unsafe impl<T> Send for AsOne<T> {}
