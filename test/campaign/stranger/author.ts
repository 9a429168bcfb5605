import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalDiscord, startLocalDiscord } from '@cinnabar/local-discord';
import type { Place } from '../stranger.js';
import { createWorld } from './world.js';

const NAME = 'cinnabar-plugin-dice2';

/** Transfers a plugin from its author's folder to another bot, with an update that requires more permissions, one that fails, and its removal. */
export async function tryPlugin(place: Place): Promise<void> {
  const { machine, folder, check, registry } = place;
  const made = await machine.run(folder, 'npx', ['--yes', 'cinnabar', 'new', 'dice2']);
  if (made.code !== 0) throw new Error(`cinnabar new dice2 ended with ${made.code}: ${made.err}`);
  const plugin = join(folder, 'dice2');
  const tested = await machine.run(plugin, 'npm', ['test']);
  check(
    tested.code === 0 && /1 passing/.test(tested.out),
    `npm test ended with ${tested.code}: ${tested.out}${tested.err}`,
  );
  const checked = await machine.run(plugin, 'npm', ['run', 'check']);
  check(
    checked.code === 0 && /dice2 0\.1\.0 passes: 0 errors, 0 warnings/.test(checked.out),
    `cinnabar check ended with ${checked.code}: ${checked.out}${checked.err}`,
  );
  await develop(place, plugin);

  const versions = [
    await packVersion(place, plugin, '0.1.0', (source) => source),
    await packVersion(place, plugin, '0.2.0', (source) =>
      source.replace("description: 'Greets people',", "description: 'Greets people', permissions: ['BanMembers'],"),
    ),
    await packVersion(
      place,
      plugin,
      '0.3.0',
      (source) =>
        source
          .replace(/setup\(.*\) \{/, (line) => `${line}\n    if (greets()) throw new Error('broken on purpose');`)
          .concat('\nfunction greets() {\n  return true;\n}\n'),
      ['npm', 'pack'],
    ),
  ];
  const publish = (...which: readonly number[]) => {
    registry.remove(NAME);
    for (const at of which) registry.add(versions[at] ?? Buffer.alloc(0));
  };
  const bot = await machine.run(folder, 'npx', ['--yes', 'cinnabar', 'new', 'night', '--project']);
  if (bot.code !== 0) throw new Error(`cinnabar new night ended with ${bot.code}: ${bot.err}`);
  await whileStopped(place, publish);
  await whileItRuns(place, publish);
}

/** `cinnabar dev`: an edit, one that does not build, one with a type error, and the corrections. */
async function develop({ machine, check }: Place, plugin: string): Promise<void> {
  const file = join(plugin, 'src', 'index.ts');
  const source = readFileSync(file, 'utf8');
  const dev = machine.open(plugin, join('node_modules', '.bin', 'cinnabar'), ['dev']);
  const answers = async (pattern: RegExp) => {
    dev.write('!dice2 world');
    await dev.prints(pattern);
  };
  await dev.prints(/Watching dice2/);
  await answers(/Hello, world!/);
  const edited = source.replace(', $', ' there, $');
  writeFileSync(file, edited);
  await dev.prints(/↻ dice2 reloaded/);
  await answers(/Hello there, world!/);
  writeFileSync(file, edited.replace('setup(', 'setup(('));
  await dev.prints(/✗ [\s\S]*src\/index\.ts:\d+[\s\S]*The version before goes on/);
  await answers(/Hello there, world!/);
  writeFileSync(file, `${source}\nexport const count: number = 'three';\n`);
  await dev.prints(/not assignable to type 'number'/);
  writeFileSync(file, source);
  await dev.prints(/↻ dice2 reloaded/);
  await answers(/Hello, world!/);
  dev.write('exit');
  const { code, out, err } = await dev.ended;
  check(code === 0, `dev ended with ${code}: ${out}${err}`);
}

/** The tarball of the plugin in another version, made by `cinnabar pack` unless that would refuse the version. */
async function packVersion(
  { machine, folder }: Place,
  plugin: string,
  version: string,
  edit: (source: string) => string,
  command: readonly [string, ...string[]] = ['npx', 'cinnabar', 'pack', '--quick'],
): Promise<Buffer> {
  const copy = join(folder, `packed-${version}`);
  for (const part of ['package.json', 'tsconfig.json', 'README.md', 'src', 'test'])
    cpSync(join(plugin, part), join(copy, part), { recursive: true });
  symlinkSync(join(plugin, 'node_modules'), join(copy, 'node_modules'));
  const change = (file: string, by: (text: string) => string) =>
    writeFileSync(join(copy, file), by(readFileSync(join(copy, file), 'utf8')));
  change('package.json', (text) => text.replace('"version": "0.1.0"', `"version": "${version}"`));
  change('src/index.ts', (text) => edit(text.replace("version: '0.1.0'", `version: '${version}'`)));
  const [program, ...args] = command;
  const packed = await machine.run(copy, program, args);
  const file = readdirSync(copy).find((name) => name.endsWith('.tgz'));
  if (file === undefined)
    throw new Error(`${command.join(' ')} of ${version} ended with ${packed.code}: ${packed.out}${packed.err}`);
  return readFileSync(join(copy, file));
}

type Publish = (...which: readonly number[]) => void;

/** `cinnabar plugin …`, with answers to its questions. */
async function whileStopped({ machine, folder, check }: Place, publish: Publish): Promise<void> {
  const bot = join(folder, 'night');
  const manifest = readFileSync(join(bot, 'package.json'), 'utf8');
  const cinnabar = (args: readonly string[], input = '') => machine.run(bot, 'npx', ['cinnabar', ...args], { input });
  const talk = async () => (await cinnabar(['console'], '!dice2 world\n')).out;
  const expectPrint = async (args: readonly string[], input: string, code: number, pattern: RegExp) => {
    const ran = await cinnabar(['plugin', ...args], input);
    const said = `${ran.out}${ran.err}`;
    check(
      ran.code === code && pattern.test(said),
      `plugin ${args.join(' ')} (${input.trim()}) ended with ${ran.code}: ${said}`,
    );
  };

  publish(0);
  await expectPrint(['add', NAME], 'n\n', 1, /Nothing was changed/);
  check(!/Hello, world!/.test(await talk()), 'a plugin that was declined is there');
  await expectPrint(['add', NAME], 'y\n', 0, /Installed dice2 0\.1\.0/);
  check(/Hello, world!/.test(await talk()), `the installed plugin does not answer: ${await talk()}`);
  await expectPrint(['updates'], '', 0, /There is nothing newer/);
  publish(0, 1);
  await expectPrint(['update', 'dice2'], 'n\n', 1, /Ban Members[\s\S]*Nothing was changed/);
  await expectPrint(['list', '--verify'], '', 0, /dice2 0\.1\.0 .*verified/);
  await expectPrint(['update', 'dice2'], 'y\n', 0, /Updated dice2 from 0\.1\.0 to 0\.2\.0/);
  check(/Hello, world!/.test(await talk()), 'the updated plugin does not answer');
  publish(0, 1, 2);
  await expectPrint(['update', 'dice2'], 'y\n', 1, /broken on purpose/);
  await expectPrint(['list', '--verify'], '', 0, /dice2 0\.2\.0 .*verified/);
  check(/Hello, world!/.test(await talk()), 'after an update that failed, the version before does not answer');
  await expectPrint(['remove', 'dice2', '--yes'], '', 0, /Removed dice2/);
  check(!/Hello, world!/.test(await talk()), 'the removed plugin answers');
  const file = join(folder, 'packed-0.1.0', `${NAME}-0.1.0.tgz`);
  await expectPrint(['add', file, '--yes'], '', 0, /Installed dice2 0\.1\.0/);
  check(/Hello, world!/.test(await talk()), 'the plugin that was installed from its file does not answer');
  await expectPrint(['remove', 'dice2', '--yes'], '', 0, /Removed dice2/);
  check(readFileSync(join(bot, 'package.json'), 'utf8') === manifest, 'the package.json of the bot has changed');
}

const NOTICED_MS = 60_000;

/** `!plugin …`, sent by the owner on Discord. */
async function whileItRuns({ machine, folder, check }: Place, publish: Publish): Promise<void> {
  await using discord = await startLocalDiscord();
  const { you, bot, general, env } = createWorld(discord);
  const running = machine.open(join(folder, 'night'), join('node_modules', '.bin', 'cinnabar'), ['start'], { env });
  await running.prints(/is ready as .*\n/);
  const answer = (text: string, content: RegExp) => {
    const since = you.say(general, text);
    return discord.expectMessage({ author: bot, content, since, timeoutMs: NOTICED_MS });
  };
  const agree = async (text: string, asks: RegExp, button: string, content: RegExp) => {
    const question: Parameters<typeof you.click>[0] = await answer(text, asks);
    you.click(question, button);
    await settle(
      discord,
      () => general.messages.some((message) => content.test(message.content)),
      `${text}: ${content}`,
    );
  };

  publish(0);
  await agree(`!plugin install ${NAME}`, /\*\*dice2\*\* 0\.1\.0/, 'Install it', /Installed `dice2` 0\.1\.0/);
  await answer('!dice2 world', /Hello, world!/);
  publish(0, 1);
  await agree(
    '!plugin update dice2',
    /\*\*dice2\*\* 0\.1\.0 → 0\.2\.0[\s\S]*Ban Members/,
    'Update it',
    /Updated `dice2` from 0\.1\.0 to 0\.2\.0/,
  );
  await answer('!dice2 Night City', /Hello, Night City!/);
  publish(0, 1, 2);
  const refused = await answer('!plugin update dice2', /broken on purpose|could not|failed/i);
  check(!/Updated/.test(refused.content), `a version that does not start was said to be updated: ${refused.content}`);
  await answer('!dice2 everybody', /Hello, everybody!/);
  await agree('!plugin remove dice2', /Remove `dice2`\?/, 'Remove it', /Removed `dice2`/);
  const { code, err } = await running.stop();
  check(code === 0, `the bot ended with ${code}: ${err}`);
}

async function settle(discord: LocalDiscord, holds: () => boolean, what: string): Promise<void> {
  const endsAt = performance.now() + NOTICED_MS;
  while (!holds()) {
    if (performance.now() > endsAt) throw new Error(`was not seen at ${discord.api}: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
