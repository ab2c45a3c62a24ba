//! Rows of named columns, as values, and how many of them become arrays.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, StringArray, TimestampMillisecondArray};
use arrow_schema::{DataType, Field, TimeUnit};

/// A column of a table, or a member of one that is nested.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub about: String,
    /// Its type in Arrow.
    pub data_type: DataType,
    /// The members of a struct, or of the structs in a list.
    pub members: Vec<Self>,
}

/// What stands in a column.
pub(crate) trait Cell: Sized {
    /// Its type.
    fn data_type() -> DataType;
    /// A column of them.
    fn array(cells: Vec<Option<Self>>) -> ArrayRef;
    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        8
    }
    /// The members, where it has any.
    fn members() -> Vec<Column> {
        Vec::new()
    }
}

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis(pub(crate) i64);

impl Cell for String {
    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn array(cells: Vec<Option<Self>>) -> ArrayRef {
        Arc::new(StringArray::from(cells))
    }

    fn weight(&self) -> usize {
        self.len()
    }
}

impl Cell for i64 {
    fn data_type() -> DataType {
        DataType::Int64
    }

    fn array(cells: Vec<Option<Self>>) -> ArrayRef {
        Arc::new(Int64Array::from(cells))
    }
}

impl Cell for f64 {
    fn data_type() -> DataType {
        DataType::Float64
    }

    fn array(cells: Vec<Option<Self>>) -> ArrayRef {
        Arc::new(Float64Array::from(cells))
    }
}

impl Cell for bool {
    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn array(cells: Vec<Option<Self>>) -> ArrayRef {
        Arc::new(BooleanArray::from(cells))
    }
}

impl Cell for Millis {
    fn data_type() -> DataType {
        DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
    }

    fn array(cells: Vec<Option<Self>>) -> ArrayRef {
        let cells = cells.into_iter().map(|cell| cell.map(|millis| millis.0));
        Arc::new(TimestampMillisecondArray::from_iter(cells).with_timezone("UTC"))
    }
}

impl<T: Cell> Cell for Vec<T> {
    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", T::data_type(), true)))
    }

    fn array(cells: Vec<Option<Self>>) -> ArrayRef {
        let lengths: Vec<usize> = cells.iter().map(|cell| cell.as_ref().map_or(0, Self::len)).collect();
        let nulls = cells.iter().map(Option::is_some).collect::<Vec<bool>>();
        let items: Vec<Option<T>> = cells.into_iter().flatten().flatten().map(Some).collect();
        let field = Arc::new(Field::new("item", T::data_type(), true));
        let offsets = arrow_buffer::OffsetBuffer::from_lengths(lengths);
        Arc::new(ListArray::new(field, offsets, T::array(items), Some(nulls.into())))
    }

    fn weight(&self) -> usize {
        self.iter().map(T::weight).sum()
    }

    fn members() -> Vec<Column> {
        T::members()
    }
}

/// The types of columns without a table's name before them.
pub(crate) fn field(column: &Column) -> Field {
    Field::new(column.name, column.data_type.clone(), true)
}

/// Whether a cell is there, and what it weighs.
pub(crate) fn weight_of<T: Cell>(cell: Option<&T>) -> usize {
    cell.map_or(0, T::weight)
}

/// The arrays of a struct's members.
pub(crate) fn arrays_of(array: &dyn Array) -> Vec<ArrayRef> {
    let rows = array.as_any().downcast_ref::<arrow_array::StructArray>();
    rows.map(|rows| rows.columns().to_vec()).unwrap_or_default()
}

/// Structs whose members are cells, all of which may be absent.
macro_rules! row {
    ($($(#[doc = $about:literal])+ struct $name:ident { $($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+ })+) => { $(
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name {
            $($(#[doc = $doc])+ pub(crate) $field: Option<$type>,)+
        }

        impl $crate::cell::Cell for $name {
            fn data_type() -> arrow_schema::DataType {
                arrow_schema::DataType::Struct(Self::members().iter().map($crate::cell::field).collect())
            }

            fn array(cells: Vec<Option<Self>>) -> arrow_array::ArrayRef {
                $(let mut $field: Vec<Option<$type>> = Vec::with_capacity(cells.len());)+
                let mut valid = Vec::with_capacity(cells.len());
                for cell in cells {
                    valid.push(cell.is_some());
                    let row = cell.unwrap_or_default();
                    $($field.push(row.$field);)+
                }
                let arrays = vec![$(<$type as $crate::cell::Cell>::array($field)),+];
                let fields = Self::members().iter().map($crate::cell::field).collect();
                std::sync::Arc::new(arrow_array::StructArray::new(fields, arrays, Some(valid.into())))
            }

            fn weight(&self) -> usize {
                let mut weight = 0;
                $(weight += $crate::cell::weight_of(self.$field.as_ref());)+
                weight
            }

            fn members() -> Vec<$crate::cell::Column> {
                vec![$($crate::cell::Column {
                    name: stringify!($field),
                    about: [$($doc),+].join("").trim().to_owned(),
                    data_type: <$type as $crate::cell::Cell>::data_type(),
                    members: <$type as $crate::cell::Cell>::members(),
                }),+]
            }
        }
    )+ };
}

pub(crate) use row;
