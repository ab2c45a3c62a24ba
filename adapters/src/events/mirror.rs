//! How an owned type and the borrowed one that it mirrors become each other.

use bumpalo::Bump;

use crate::event;
use crate::json::{Raw, Str};

use super::Json;

/// An owned type and the one of [`crate::event`] that says the same and borrows.
pub(crate) trait Mirror: Sized {
    /// What it mirrors.
    type Borrowed<'a>: Copy + 'a;
    /// A copy that borrows nothing.
    fn own(borrowed: &Self::Borrowed<'_>) -> Self;
    /// The same, borrowing from this and from the arena.
    fn borrow<'a>(&'a self, arena: &'a Bump) -> Self::Borrowed<'a>;
}

impl Mirror for String {
    type Borrowed<'a> = Str<'a>;

    fn own(borrowed: &Str<'_>) -> Self {
        borrowed.unescape().into_owned()
    }

    fn borrow<'a>(&'a self, arena: &'a Bump) -> Str<'a> {
        let mut body = Self::with_capacity(self.len());
        Str::escape(self, &mut body);
        Str::trusted(arena.alloc_str(&body))
    }
}

/// Text as it stands, not the body of a JSON string.
impl Mirror for Box<str> {
    type Borrowed<'a> = &'a str;

    fn own(borrowed: &&str) -> Self {
        (*borrowed).into()
    }

    fn borrow<'a>(&'a self, _arena: &'a Bump) -> &'a str {
        self
    }
}

impl Mirror for Json {
    type Borrowed<'a> = Raw<'a>;

    fn own(borrowed: &Raw<'_>) -> Self {
        // Of what goes over as it is, decoders have checked the structure only.
        Self::new(borrowed.as_str()).unwrap_or_default()
    }

    fn borrow<'a>(&'a self, _arena: &'a Bump) -> Raw<'a> {
        Raw::trusted(self.as_str())
    }
}

/// A count, whose digits the line spells.
impl Mirror for u64 {
    type Borrowed<'a> = event::Count<'a>;

    fn own(borrowed: &event::Count<'_>) -> Self {
        borrowed.value
    }

    fn borrow<'a>(&'a self, _arena: &'a Bump) -> event::Count<'a> {
        event::Count::derived(*self)
    }
}

impl<T: Mirror> Mirror for Option<T> {
    type Borrowed<'a> = Option<T::Borrowed<'a>>;

    fn own(borrowed: &Option<T::Borrowed<'_>>) -> Self {
        borrowed.as_ref().map(T::own)
    }

    fn borrow<'a>(&'a self, arena: &'a Bump) -> Self::Borrowed<'a> {
        self.as_ref().map(|value| value.borrow(arena))
    }
}

impl<T: Mirror> Mirror for Box<T> {
    type Borrowed<'a> = &'a T::Borrowed<'a>;

    fn own(borrowed: &&T::Borrowed<'_>) -> Self {
        Self::new(T::own(borrowed))
    }

    fn borrow<'a>(&'a self, arena: &'a Bump) -> Self::Borrowed<'a> {
        arena.alloc((**self).borrow(arena))
    }
}

impl<T: Mirror> Mirror for Vec<T> {
    type Borrowed<'a> = &'a [T::Borrowed<'a>];

    fn own(borrowed: &&[T::Borrowed<'_>]) -> Self {
        borrowed.iter().map(T::own).collect()
    }

    fn borrow<'a>(&'a self, arena: &'a Bump) -> Self::Borrowed<'a> {
        arena.alloc_slice_fill_iter(self.iter().map(|value| value.borrow(arena)))
    }
}

/// Types that borrow nothing.
macro_rules! as_they_are {
    ($($type:ty),+ $(,)?) => { $(
        impl Mirror for $type {
            type Borrowed<'a> = Self;

            fn own(borrowed: &Self) -> Self {
                *borrowed
            }

            fn borrow<'a>(&'a self, _arena: &'a Bump) -> Self {
                *self
            }
        }
    )+ };
}

as_they_are!(
    bool,
    u32,
    event::BlockStop,
    event::ControlKind,
    event::DetailShape,
    event::InputOrigin,
    event::OutcomeKind,
    event::PromptSource,
    event::Provenance,
    event::ResultStatus,
    event::Scope,
    event::StopKind,
    event::ToolKind,
    event::Topic,
);

/// A struct with the fields of the one that it mirrors.
macro_rules! owned {
    ($($(#[$meta:meta])* struct $name:ident = $borrowed:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })+) => { $(
        $(#[$meta])*
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $crate::events::mirror::Mirror for $name {
            type Borrowed<'a> = $crate::event::$borrowed<'a>;

            fn own(borrowed: &$crate::event::$borrowed<'_>) -> Self {
                Self {
                    $($field: <$type as $crate::events::mirror::Mirror>::own(&borrowed.$field),)*
                }
            }

            fn borrow<'a>(&'a self, arena: &'a bumpalo::Bump) -> $crate::event::$borrowed<'a> {
                $crate::event::$borrowed {
                    $($field: $crate::events::mirror::Mirror::borrow(&self.$field, arena),)*
                }
            }
        }
    )+ };
}

/// An enum with the variants of the one that it mirrors.
macro_rules! owned_enum {
    ($($(#[$meta:meta])* enum $name:ident = $borrowed:ident { $(
        $(#[$variant_meta:meta])*
        $variant:ident $(($type:ty))? $({ $($(#[$field_meta:meta])* $field:ident: $field_type:ty,)+ })?,
    )+ })+) => { $(
        $(#[$meta])*
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant $(($type))? $({ $($(#[$field_meta])* $field: $field_type,)+ })?,)+
        }

        impl $crate::events::mirror::Mirror for $name {
            type Borrowed<'a> = $crate::event::$borrowed<'a>;

            fn own(borrowed: &$crate::event::$borrowed<'_>) -> Self {
                match borrowed { $(
                    $crate::event::$borrowed::$variant $(($crate::events::mirror::bound!(value $type)))? $({ $($field,)+ })? =>
                        Self::$variant
                            $((<$type as $crate::events::mirror::Mirror>::own(value)))?
                            $({ $($field: <$field_type as $crate::events::mirror::Mirror>::own($field),)+ })?,
                )+ }
            }

            #[allow(unused_variables)]
            fn borrow<'a>(&'a self, arena: &'a bumpalo::Bump) -> $crate::event::$borrowed<'a> {
                match self { $(
                    Self::$variant $(($crate::events::mirror::bound!(value $type)))? $({ $($field,)+ })? =>
                        $crate::event::$borrowed::$variant
                            $((<$type as $crate::events::mirror::Mirror>::borrow(value, arena)))?
                            $({ $($field: <$field_type as $crate::events::mirror::Mirror>::borrow($field, arena),)+ })?,
                )+ }
            }
        }
    )+ };
}

/// The name, where a type stands.
macro_rules! bound {
    ($name:ident $type:ty) => {
        $name
    };
}

pub(super) use {bound, owned, owned_enum};
