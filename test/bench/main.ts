/** `npm run bench [-- NAME … [FOLDER]] [--rounds N] [--json]`: runs measurements, each figure against its peer in the same run. */
import { parseArgs } from 'node:util';
import { asLine, type Figure } from './report.js';

/** Benches that replay data take the folder of the data as an argument, long runs their duration. */
type Bench = (folder: string | undefined, rounds: number | undefined) => AsyncIterable<Figure>;

/** Loaded one at a time, so that no bench keeps another one's code in memory. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  messages: async () => (await import('./messages.js')).messages,
  commands: async () => (await import('./messages.js')).commands,
  start: async () => (await import('./start.js')).start,
  guilds: async () => (await import('./guilds.js')).guilds,
  footprint: async () => (await import('./footprint.js')).footprint,
  reload: async () => (await import('./reload.js')).reload,
  cache: async () => (await import('./cache.js')).cache,
  tasks: async () => (await import('./tasks.js')).tasks,
  context: async () => (await import('./context.js')).context,
  relay: async () => (await import('./relay.js')).relay,
  memory: async () => (await import('./memory.js')).memory,
  repetition: async () => (await import('./repetition.js')).repetition,
  hostile: async () => (await import('./hostile.js')).hostile,
  web: async () => (await import('./web.js')).web,
  scale: async () => (await import('./scale.js')).scale,
  simulation: async () => (await import('./simulation.js')).simulation,
  year: async () => (await import('./year.js')).year,
  soak: async () => (await import('./soak.js')).soak,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, rounds: { type: 'string' } },
});
const isPath = (arg: string) => /[/\\.]/.test(arg);
const names = positionals.filter((arg) => !isPath(arg));
const folder = positionals.find(isPath);
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
const unknown = names.filter((name) => !(name in BENCHES));

if (unknown.length > 0) {
  process.stderr.write(`There is no bench "${unknown.join('", "')}"; there are ${Object.keys(BENCHES).join(', ')}.\n`);
  process.exitCode = 1;
} else {
  for (const [name, load] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    process.stderr.write(`bench ${name} …\n`);
    for await (const figure of (await load())(folder, rounds)) {
      process.stdout.write(`${values.json ? JSON.stringify(figure) : asLine(figure)}\n`);
    }
  }
}
