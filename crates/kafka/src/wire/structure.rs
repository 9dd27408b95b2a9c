//! Structures of the protocol, each field written once: the reader, the writer, the default and
//! the test values come from it.
//!
//! ```text
//! wire_struct! {
//!     pub struct Example {
//!         name: String [0..],                     // in every version
//!         rack: Option<String> [1.., null 2..],   // from 1 on, may be null from 2 on
//!         epoch: i32 [4..=7] = -1,                // in 4 to 7; -1 where it is absent
//!         leader: Leader [tag 0, 9..],            // tagged field 0, from 9 on
//!     }
//! }
//! ```
//!
//! An `Option` without `null` may be null in every version. A field that is absent in a version
//! is left out when writing, whatever it holds. Tagged fields stand last, in the order of their
//! tags, and are written when they differ from their default.

macro_rules! wire_struct {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident: $ty:ty [$($spec:tt)+] $(= $default:expr)?, )+
        }
    )+) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $ty, )+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $crate::wire::wire_field!(@default $($default)?), )+ }
            }
        }

        impl $crate::wire::Wire for $name {
            fn size_min(format: $crate::wire::Format) -> usize {
                usize::from(format.flexible)
                    $( + $crate::wire::wire_field!(@size_min format, $ty, $($spec)+) )+
            }

            fn decode(
                reader: &mut $crate::wire::Reader<'_>,
            ) -> Result<Self, $crate::wire::Malformed> {
                let mut this = Self::default();
                $( $crate::wire::wire_field!(@decode reader, this.$field, $($spec)+); )+
                reader.read_tags(|reader, tag| {
                    let _ = (&reader, tag);
                    $( $crate::wire::wire_field!(@decode_tag reader, tag, this.$field, $($spec)+); )+
                    Ok(())
                })?;
                Ok(this)
            }

            fn encode(&self, writer: &mut $crate::wire::Writer) {
                $( $crate::wire::wire_field!(@encode writer, self.$field, $($spec)+); )+
                let version = writer.version();
                writer.put_tags(|tags| {
                    let _ = (&tags, version);
                    $( $crate::wire::wire_field!(
                        @encode_tag tags, version, self.$field,
                        ($crate::wire::wire_field!(@default $($default)?)), $($spec)+
                    ); )+
                });
            }
        }

        #[cfg(test)]
        impl $crate::wire::sample::Sample for $name {
            fn sample(sampler: &mut $crate::wire::sample::Sampler) -> Self {
                let mut this = Self::default();
                $( $crate::wire::wire_field!(@sample sampler, this.$field, $($spec)+); )+
                this
            }
        }
    )+ };
}

/// What one field adds to each of the parts that `wire_struct` makes.
macro_rules! wire_field {
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };

    (@size_min $format:ident, $ty:ty, tag $tag:literal, $versions:expr) => { 0 };
    (@size_min $format:ident, $ty:ty, $versions:expr $(, null $null:expr)?) => {
        if ($versions).contains(&$format.version) {
            <$ty as $crate::wire::Wire>::size_min($format)
        } else {
            0
        }
    };

    (@decode $reader:ident, $this:ident.$field:ident, tag $tag:literal, $versions:expr) => {};
    (@decode $reader:ident, $this:ident.$field:ident, $versions:expr $(, null $null:expr)?) => {
        if ($versions).contains(&$reader.version()) {
            $this.$field = $crate::wire::Wire::decode($reader)?;
            $( if $this.$field.is_none() && !($null).contains(&$reader.version()) {
                return Err($crate::wire::Malformed::Null);
            } )?
        }
    };

    (@decode_tag $reader:ident, $seen:ident, $this:ident.$field:ident,
        tag $tag:literal, $versions:expr) => {
        if $seen == $tag && ($versions).contains(&$reader.version()) {
            $this.$field = $crate::wire::Wire::decode($reader)?;
        }
    };
    (@decode_tag $reader:ident, $seen:ident, $this:ident.$field:ident, $($plain:tt)+) => {};

    (@encode $writer:ident, $this:ident.$field:ident, tag $tag:literal, $versions:expr) => {};
    (@encode $writer:ident, $this:ident.$field:ident, $versions:expr $(, null $null:expr)?) => {
        if ($versions).contains(&$writer.version()) {
            $( if $this.$field.is_none() && !($null).contains(&$writer.version()) {
                $writer.fail($crate::wire::EncodeError::Null);
            } )?
            $crate::wire::Wire::encode(&$this.$field, $writer);
        }
    };

    (@encode_tag $tags:ident, $version:ident, $this:ident.$field:ident, ($default:expr),
        tag $tag:literal, $versions:expr) => {
        if ($versions).contains(&$version) {
            $tags.put($tag, &$this.$field, $default);
        }
    };
    (@encode_tag $tags:ident, $version:ident, $this:ident.$field:ident, ($default:expr),
        $($plain:tt)+) => {};

    (@sample $sampler:ident, $this:ident.$field:ident, tag $tag:literal, $versions:expr) => {
        if $sampler.wants_tags() && ($versions).contains(&$sampler.version()) {
            $this.$field = $sampler.value();
        }
    };
    (@sample $sampler:ident, $this:ident.$field:ident, $versions:expr) => {
        if ($versions).contains(&$sampler.version()) {
            $this.$field = $sampler.value();
        }
    };
    (@sample $sampler:ident, $this:ident.$field:ident, $versions:expr, null $null:expr) => {
        if ($versions).contains(&$sampler.version()) {
            let nullable = ($null).contains(&$sampler.version());
            $this.$field = $sampler.optional(nullable);
        }
    };
}

pub(super) use {wire_field, wire_struct};
