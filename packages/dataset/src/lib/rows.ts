/** Rows from anywhere: an array, a generator, or a file that is read as it is consumed. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>
