/**
 * A process that copies the rows of a bot's data into a new schema at one moment: `copy-rows.js URL FROM TO`. It imports nothing of the host, so that a test
 * that waits for it continues soon.
 */
import pg from 'pg';

const [url, from, to] = process.argv.slice(2);
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`
  BEGIN ISOLATION LEVEL REPEATABLE READ;
  CREATE SCHEMA ${to};
  CREATE TABLE ${to}.documents AS TABLE ${from}.documents;
  CREATE TABLE ${to}.copies AS TABLE ${from}.copies;
  CREATE TABLE ${to}.journal_lines AS TABLE ${from}.journal_lines;
  CREATE TABLE ${to}.revisions AS SELECT last_value, is_called FROM ${from}.revisions;
  COMMIT`);
await client.end();
