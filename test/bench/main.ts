/** `npm run bench [-- NAME … [FOLDER]] [--json]`: measures, each figure against its peer in the same run. */
import { asLine, type Figure } from './report.js';

/** Those that replay data take the folder that it is in. */
type Bench = (folder?: string) => AsyncIterable<Figure>;

/** Loaded one at a time, so that no bench carries another's code in memory. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  messages: async () => (await import('./messages.js')).messages,
  commands: async () => (await import('./messages.js')).commands,
  start: async () => (await import('./start.js')).start,
  footprint: async () => (await import('./start.js')).footprint,
  reload: async () => (await import('./reload.js')).reload,
  cache: async () => (await import('./cache.js')).cache,
  tasks: async () => (await import('./tasks.js')).tasks,
  context: async () => (await import('./context.js')).context,
  relay: async () => (await import('./relay.js')).relay,
  memory: async () => (await import('./memory.js')).memory,
  repetition: async () => (await import('./repetition.js')).repetition,
};

const args = process.argv.slice(2);
const asJson = args.includes('--json');
const isPath = (arg: string) => /[/\\.]/.test(arg);
const names = args.filter((arg) => !arg.startsWith('--') && !isPath(arg));
const folder = args.find(isPath);
const unknown = names.filter((name) => !(name in BENCHES));

if (unknown.length > 0) {
  process.stderr.write(`There is no bench "${unknown.join('", "')}"; there are ${Object.keys(BENCHES).join(', ')}.\n`);
  process.exitCode = 1;
} else {
  for (const [name, load] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    process.stderr.write(`bench ${name} …\n`);
    for await (const figure of (await load())(folder)) {
      process.stdout.write(`${asJson ? JSON.stringify(figure) : asLine(figure)}\n`);
    }
  }
}
