//! Tables of text.

/// Rows of cells as lines, with the first column left-aligned and the others right-aligned.
pub fn aligned<Cells: AsRef<[String]>>(rows: &[Cells]) -> Vec<String> {
    let columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.as_ref().get(column));
    let widths: Vec<usize> =
        (0..columns).map(|c| cells(c).map(|t| t.chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &Cells| {
        let padded =
            row.as_ref().iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}
