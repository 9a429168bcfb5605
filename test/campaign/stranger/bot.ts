import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLocalDiscord } from '@cinnabar/local-discord';
import { withoutStalls } from '../../support/stalls.js';
import type { Place } from '../stranger.js';
import { createWorld } from './world.js';

/** A bot from installed packages: every command of the command line, and starts with a token. */
export async function tryBot(place: Place): Promise<void> {
  const { machine, folder, check, count } = place;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'my-bot', private: true }));
  const installed = await machine.run(folder, 'npm', ['install', 'cinnabar']);
  if (installed.code !== 0) throw new Error(`npm install cinnabar failed: ${installed.err}`);
  count('packages installed', Number(/added (\d+) packages/.exec(installed.out)?.[1]));
  const before = contentsOf(folder);
  await tryCommands(place);
  await tryStarts(place);
  const now = contentsOf(folder).filter((path) => !before.includes(path));
  check(now.length === 0, `the bot has written into node_modules: ${now.slice(0, 5).join(', ')}`);
}

/** Checks that the project's packages need not be writable. */
function contentsOf(folder: string): readonly string[] {
  const packages = join(folder, 'node_modules', '@cinnabar');
  return readdirSync(packages, { recursive: true }).map(String);
}

const TALK = `!ai Add V to my party, he's a Solo\n+1\n!help\n`;

async function tryCommands({ machine, folder, check }: Place): Promise<void> {
  const cinnabar = (args: readonly string[], input = '', env = {}) =>
    machine.run(folder, 'npx', ['cinnabar', ...args], { input, env });
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', 'cinnabar', 'package.json'), 'utf8'));
  const printed = await cinnabar(['version']);
  check(printed.out === `${version}\n` && printed.err === '', `version printed ${JSON.stringify(printed)}`);
  const help = await cinnabar(['help']);
  check(help.code === 0 && help.out.includes('cinnabar start'), `help printed ${JSON.stringify(help)}`);
  const unknown = await cinnabar(['nonsense']);
  check(unknown.code === 1, 'an unknown command exits with 0');
  for (const command of ['start', 'console']) {
    const talk = await cinnabar([command], TALK, { CINNABAR_DATA: `data-${command}` });
    check(talk.code === 0 && talk.err === '', `${command} ended with ${talk.code}: ${talk.err}`);
    check(/V has been added to your party/.test(talk.out), `${command} did not add V: ${talk.out.slice(-500)}`);
    check(/• \**moderation/.test(talk.out), `${command} did not find the bundled plugins: ${talk.out.slice(-500)}`);
    const isBundled = () => modifiedAt(recordIn(folder, `data-${command}`)) > 0;
    await until(isBundled, BUNDLE_MS);
    check(isBundled(), `${command} on the local Discord has not bundled the host for the next start`);
    const again = await cinnabar([command], TALK, { CINNABAR_DATA: `data-${command}` });
    check(again.code === 0 && again.err === '', `${command} from the bundle ended with ${again.code}: ${again.err}`);
  }
  const schema = await cinnabar(['schema']);
  check(
    schema.code === 0 && Object.hasOwn(JSON.parse(schema.out), '$schema'),
    `schema ended with ${schema.code}: ${schema.err}`,
  );
  check(schema.out.includes('"vendors"'), 'schema does not know the keys of bundled plugins');
  const doctor = await cinnabar(['doctor', '--json']);
  check(
    Array.isArray(JSON.parse(doctor.out).findings ?? JSON.parse(doctor.out)),
    `doctor printed ${doctor.out}${doctor.err}`,
  );
  for (const args of [
    ['backup', 'kept.tar.gz'],
    ['backup', '--verify', 'kept.tar.gz'],
    ['restore', 'kept.tar.gz'],
  ]) {
    const ran = await cinnabar(args);
    check(ran.code === 0, `${args.join(' ')} ended with ${ran.code}: ${ran.err}`);
  }
}

/** The first start runs from single files, and bundles the host for later starts; the same holds for the first start after npm has changed packages. */
const STARTS = ['first', 'second', 'third', 'upgraded'];
const BUNDLE_MS = 120_000;

async function tryStarts({ machine, folder, check, count }: Place): Promise<void> {
  await using discord = await startLocalDiscord();
  const { you, bot, general, env } = createWorld(discord);
  const record = recordIn(folder, 'data');
  const installed = join(folder, 'node_modules', '.package-lock.json');
  for (const which of STARTS) {
    if (which === 'upgraded') appendFileSync(installed, '\n');
    const before = modifiedAt(record);
    const startedAt = performance.now();
    // Not with npx, which does not forward SIGTERM.
    const running = machine.open(folder, join('node_modules', '.bin', 'cinnabar'), ['start'], { env });
    const ready = await running.prints(/is ready as .*\n/);
    count(`ms until ready, ${which} start`, Math.round(performance.now() - startedAt));
    check(/\b(19|[2-9]\d) plugins: .*moderation/.test(ready), `the ${which} start printed ${ready}`);
    const asked = you.say(general, '!ai Hi');
    await discord.expectMessage({ author: bot, since: asked, timeoutMs: 20_000 });
    const isBundled = () => modifiedAt(record) !== before;
    if (which === 'first' || which === 'upgraded') {
      await until(isBundled, BUNDLE_MS);
      check(isBundled(), `the ${which} start has not bundled the host`);
    } else check(!isBundled(), `the ${which} start has bundled the host again`);
    if (which === 'third') {
      const restart = you.say(general, '!bot restart');
      await discord.expectMessage({ author: bot, content: /^I am back/, since: restart, timeoutMs: 60_000 });
    }
    const { code, err } = await running.stop();
    check(code === 0, `the ${which} start ended with ${code}: ${err}`);
    check(!/ (warn|error) |cannot be used/.test(withoutStalls(err)), `the ${which} start complained: ${err}`);
  }
}

const recordIn = (folder: string, data: string): string => join(folder, data, 'cache', 'host', 'built.json');
const modifiedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function until(holds: () => boolean, timeoutMs: number): Promise<void> {
  const endsAt = performance.now() + timeoutMs;
  while (!holds() && performance.now() < endsAt) await new Promise((resolve) => setTimeout(resolve, 100));
}
