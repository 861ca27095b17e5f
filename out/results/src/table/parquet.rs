//! Tables as Parquet files.
//!
//! A file has groups of rows, of which one at a time is in memory, both in writing and in reading.
//! Whole numbers are stored as 64 bits by their differences, decimal numbers as doubles, texts as
//! UTF-8 with a dictionary; a column is optional if a cell may be empty.

use std::{
    fmt::Display,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use parquet::{
    basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical},
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        reader::{FileReader, SerializedFileReader},
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    schema::types::{ColumnDescriptor, ColumnPath, Type},
};

use super::{Columns, Kind, NamedColumn, ReadError, TABLES, Values, write::Line};

/// Rows of a group. A group of the table of messages takes 20 MB in memory.
const GROUP: usize = 1 << 18;
/// Rows that are read at once.
const BATCH: usize = 1 << 14;

/// Returns whether a file is read as Parquet, by the end of its name.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "parquet")
}

/// A Parquet file that is being written.
pub struct Groups<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// The rows of the group that is not yet complete.
    pub rows: Columns,
}

impl<W: Write + Send> Groups<W> {
    /// Begins a file with the columns of `rows`, of which those are optional that `optional` says.
    pub fn new(out: W, rows: Columns, optional: &[bool]) -> io::Result<Self> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        let mut fields = Vec::new();
        for (column, &optional) in rows.columns.iter().zip(optional) {
            let (physical, logical) = match column.values.kind() {
                Kind::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
                Kind::Signed => (Physical::INT64, Some(LogicalType::integer(64, true))),
                Kind::Decimal => (Physical::DOUBLE, None),
                Kind::Flag => (Physical::BOOLEAN, None),
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            if physical == Physical::INT64 {
                let path = ColumnPath::new(vec![column.name.clone()]);
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
            let repetition = if optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
            let field = Type::primitive_type_builder(&column.name, physical)
                .with_repetition(repetition)
                .with_logical_type(logical);
            fields.push(Arc::new(field.build()?));
        }
        let schema = Type::group_type_builder("table").with_fields(fields).build()?;
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        Ok(Self { file, rows })
    }

    /// Writes the rows as a group if they are enough for one.
    pub fn flush_full(&mut self) -> io::Result<()> {
        if self.rows.rows < GROUP { Ok(()) } else { Ok(self.flush()?) }
    }

    /// Writes the rows as a group.
    fn flush(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in &self.rows.columns {
            let Some(mut writer) = group.next_column()? else { break };
            write_column(&mut writer, column)?;
            writer.close()?;
        }
        group.close()?;
        self.rows.clear();
        Ok(())
    }

    /// Writes the rows that are left, and the end of the file.
    pub fn finish(mut self) -> io::Result<()> {
        if self.rows.rows > 0 {
            self.flush()?;
        }
        self.file.finish()?;
        self.file.inner_mut().flush()
    }
}

/// Writes the values of a column, those of empty cells left out.
fn write_column(
    writer: &mut SerializedColumnWriter,
    column: &NamedColumn,
) -> Result<(), ParquetError> {
    fn write<T: DataType, V>(
        writer: &mut SerializedColumnWriter,
        (column, all): (&NamedColumn, &[V]),
        convert: impl Fn(&V) -> T::T,
    ) -> Result<(), ParquetError> {
        let filled = (0..).zip(all).filter(|(row, _)| column.is_filled(*row));
        let values: Vec<_> = filled.map(|(_, value)| convert(value)).collect();
        let levels: Vec<_> = (0..all.len()).map(|row| i16::from(column.is_filled(row))).collect();
        writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
        Ok(())
    }
    match &column.values {
        Values::Unsigned(all) => {
            write::<Int64Type, _>(writer, (column, all), |value| value.cast_signed())
        }
        Values::Signed(all) => write::<Int64Type, _>(writer, (column, all), |value| *value),
        Values::Decimal(all) => write::<DoubleType, _>(writer, (column, all), |value| *value),
        Values::Flag(all) => write::<BoolType, _>(writer, (column, all), |value| *value),
        Values::Text(all) => {
            write::<ByteArrayType, _>(writer, (column, all), |text| text.as_str().into())
        }
    }
}

/// The rows of a Parquet file, some at a time.
pub struct Batches {
    file: SerializedFileReader<File>,
    path: PathBuf,
    /// The group that is read next.
    group: usize,
    /// The columns of the group that is being read, and the number of its rows that are left.
    columns: Vec<ColumnReader>,
    left: usize,
}

impl Batches {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let file = units::text::open(path);
        let file = file.map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        let file = SerializedFileReader::new(file).map_err(|error| wrong(path, &error))?;
        Ok(Self { file, path: path.to_owned(), group: 0, columns: Vec::new(), left: 0 })
    }

    /// Returns the columns, without rows. Those of a table of a run have units.
    pub fn empty(&self) -> Result<Columns, ReadError> {
        let described = self.file.metadata().file_metadata().schema_descr().columns();
        let names: Vec<_> = described.iter().map(|column| column.name()).collect();
        let known = TABLES
            .iter()
            .find(|table| table.columns.iter().map(|c| c.name).eq(names.iter().copied()));
        let column = |(place, column): (usize, &Arc<ColumnDescriptor>)| {
            let unit = known.map_or("", |table| table.columns[place].unit);
            let kind = kind(column).ok_or_else(|| {
                wrong(&self.path, &format!("column `{}` is of no type of a table", column.name()))
            })?;
            Ok(NamedColumn::new(column.name(), unit, Values::of(kind)))
        };
        let columns = described.iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(Columns { columns, rows: 0 })
    }

    /// Appends further rows to the columns of [`Batches::empty`]; returns whether there were any.
    pub fn append(&mut self, table: &mut Columns) -> Result<bool, ReadError> {
        let at = |error| wrong(&self.path, &error);
        while self.left == 0 {
            if self.group >= self.file.num_row_groups() {
                return Ok(false);
            }
            let group = self.file.get_row_group(self.group).map_err(at)?;
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let readers = (0..table.columns.len()).map(|column| group.get_column_reader(column));
            self.columns = readers.collect::<Result<_, _>>().map_err(at)?;
            self.group += 1;
        }
        let count = self.left.min(BATCH);
        for (reader, column) in self.columns.iter_mut().zip(&mut table.columns) {
            read_column(reader, column, table.rows, count).map_err(at)?;
        }
        table.rows += count;
        self.left -= count;
        Ok(true)
    }
}

fn wrong(path: &Path, error: &dyn Display) -> ReadError {
    ReadError::Parquet { path: path.to_owned(), message: error.to_string() }
}

/// The kind of a column's values; none if no table has such.
fn kind(column: &ColumnDescriptor) -> Option<Kind> {
    let unsigned = column.logical_type_ref() == Some(&LogicalType::integer(64, false));
    let flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
    match column.physical_type() {
        _ if !flat => None,
        Physical::INT64 if unsigned => Some(Kind::Unsigned),
        Physical::INT64 => Some(Kind::Signed),
        Physical::DOUBLE => Some(Kind::Decimal),
        Physical::BOOLEAN => Some(Kind::Flag),
        Physical::BYTE_ARRAY => Some(Kind::Text),
        _ => None,
    }
}

/// Appends `count` cells to a column that has `rows` of them.
fn read_column(
    reader: &mut ColumnReader,
    column: &mut NamedColumn,
    rows: usize,
    count: usize,
) -> Result<(), ParquetError> {
    fn read<T: DataType, V: Default>(
        reader: &mut ColumnReaderImpl<T>,
        (filled, rows, count): (&mut Vec<bool>, usize, usize),
        all: &mut Vec<V>,
        convert: impl Fn(T::T) -> Result<V, ParquetError>,
    ) -> Result<(), ParquetError> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let (mut read, mut found) = (0, 0);
        while read < count {
            let (records, more, _) =
                reader.read_records(count - read, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                return Err(ParquetError::General("a column ends before its group".to_owned()));
            }
            (read, found) = (read + records, found + more);
        }
        let mut values = values.into_iter();
        if found == count {
            if !filled.is_empty() {
                filled.resize(rows + count, true);
            }
            return values.try_for_each(|value| convert(value).map(|value| all.push(value)));
        }
        filled.resize(rows, true);
        for level in levels {
            let value = if level > 0 { values.next() } else { None };
            filled.push(value.is_some());
            all.push(value.map(&convert).transpose()?.unwrap_or_default());
        }
        Ok(())
    }
    let rest = (&mut column.filled, rows, count);
    match (reader, &mut column.values) {
        (ColumnReader::Int64ColumnReader(reader), Values::Unsigned(all)) => {
            read(reader, rest, all, |value| Ok(value.cast_unsigned()))
        }
        (ColumnReader::Int64ColumnReader(reader), Values::Signed(all)) => {
            read(reader, rest, all, Ok)
        }
        (ColumnReader::DoubleColumnReader(reader), Values::Decimal(all)) => {
            read(reader, rest, all, Ok)
        }
        (ColumnReader::BoolColumnReader(reader), Values::Flag(all)) => read(reader, rest, all, Ok),
        (ColumnReader::ByteArrayColumnReader(reader), Values::Text(all)) => {
            read(reader, rest, all, |text: ByteArray| Ok(text.as_utf8()?.to_owned()))
        }
        _ => Err(ParquetError::General("a column is of another type than it says".to_owned())),
    }
}

/// A Parquet file as the text that it would be in CSV, made while it is read.
pub struct Text {
    batches: Batches,
    table: Columns,
    line: Line,
    /// The bytes of the line that were read.
    read: usize,
}

impl Text {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let batches = Batches::open(path)?;
        let table = batches.empty()?;
        let mut line = Line::default();
        table.columns.iter().for_each(|column| {
            line.text(&column.name);
            line.end();
        });
        line.end_row();
        Ok(Self { batches, table, line, read: 0 })
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.line.bytes().len() {
            self.table.clear();
            self.line.clear();
            self.read = 0;
            self.batches.append(&mut self.table).map_err(io::Error::other)?;
            for row in 0..self.table.rows {
                for column in &self.table.columns {
                    self.line.value(column.value(row));
                    self.line.end();
                }
                self.line.end_row();
            }
        }
        let rest = self.line.bytes().get(self.read..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}
