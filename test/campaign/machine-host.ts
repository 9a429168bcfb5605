import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createHost, type Host, type HostOptions } from '@cinnabar/core';
import type { Logger } from '@cinnabar/sdk';
import pg from 'pg';
import { memberOfCluster } from '../support/cluster-process.js';

/** The storage of a campaign's process. */
export type Machine =
  /** Files, which the next process reads. */
  | { readonly kind: 'alone' }
  /** A database: the next process is another machine, with an empty folder. */
  | { readonly kind: 'cluster'; readonly url: string; readonly schema: string; readonly name: string };

type Options = Pick<HostOptions, 'clock' | 'plugins' | 'only' | 'driver'> & {
  readonly config: HostOptions['config'] & { readonly token: string };
};

const POLL_MS = 20;

/** Starts the bot of a campaign, and resolves with the host of its only group of servers once that is ready. */
export async function startOnMachine(options: Options, machine: Machine): Promise<Host> {
  if (machine.kind === 'alone') {
    const host = createHost(options);
    const { problems } = await host.start(options.config.token);
    for (const { plugin, problem } of problems) complain(`${plugin}: ${problem}`);
    return host;
  }
  const { config, driver: _, ...host } = options;
  const member = memberOfCluster({
    config,
    name: machine.name,
    groups: 1,
    database: machine,
    host,
    log: LOG,
    onUnreachable: complain,
  });
  process.once('SIGTERM', () => void member.stop().then(() => process.exit(0)));
  await member.start();
  await served(machine);
  const [first] = member.hosts();
  if (first === undefined) throw new Error('the servers were given away again');
  return first;
}

/** The previous process may have been killed: its lease is valid for some more seconds. */
async function served({ url, schema, name }: Extract<Machine, { readonly kind: 'cluster' }>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const ready = `SELECT FROM ${schema}.leases JOIN ${schema}.members ON id = holder WHERE name = $1 AND ready_at IS NOT NULL`;
  while ((await client.query(ready, [name])).rowCount === 0) await wait(POLL_MS);
  await client.end();
}

function complain(message: string, fields?: unknown): void {
  writeSync(2, `${message} ${typeof fields === 'object' ? JSON.stringify(fields) : ''}\n`);
}

const LOG: Logger = {
  error: complain,
  warn: complain,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  traces: false,
  child: () => LOG,
};
