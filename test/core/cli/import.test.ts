import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { cinnabar } from '../../support/cinnabar.js';
import { countSyncs } from '../../support/file-syncs.js';
import { type Folder, lockByAnother, makeFolder } from '../../support/folder.js';

const GUILD = '123456789012345678';
const CHANNEL = '234567890123456789';
const BOT = '345678901234567890';
const TOKEN = `${Buffer.from(BOT).toString('base64')}.Gxxxxx.0123456789012345678901234567`;
const ANTHROPIC_KEY = 'sk-ant-REDACTED';

/** Plugins are built once for all tests. */
let cache: Folder;
before(() => {
  cache = makeFolder();
});
after(() => cache[Symbol.dispose]());

const use = (id: string) =>
  JSON.stringify({
    call: { id, name: 'get_time', input: { timezone: 'Asia/Tokyo' }, messageId: '900000000000000001' },
    result: { callId: id, output: '14:30 JST' },
    timestamp: '2026-01-01T10:20:30.000Z',
  });

/** A reference to an environment variable in a file. */
const variable = (name: string) => `\${${name}}`;

/** Runs the command as a user in `home`. */
async function importing(
  home: Folder,
  program: string,
  dir: Folder,
  options: {
    readonly dryRun?: boolean;
    readonly overwrite?: boolean;
    readonly botId?: string;
    readonly bot?: string;
  } = {},
) {
  const args = [
    ...(options.dryRun ? ['--dry-run'] : []),
    ...(options.overwrite ? ['--overwrite'] : []),
    ...(options.botId === undefined ? [] : ['--bot-id', options.botId]),
    ...(options.bot === undefined ? [] : ['--bot', options.bot]),
  ];
  const { code, out, err } = await cinnabar(['import', program, dir.path, ...args], {
    cwd: home.path,
    env: { CACHE_PATH: cache.path },
  });
  return { code, said: out, err, yaml: (name: string) => parse(readFileSync(join(home.path, name), 'utf8')) };
}

const chapter3 = () =>
  makeFolder({
    'config/shared.yaml': `vendors:\n  anthropic:\n    config:\n      anthropic_api_key: "${ANTHROPIC_KEY}"\n    provides: ["claude-3-5-sonnet-20241022"]\nrecencyWindow: 300\n`,
    [`config/guilds/${GUILD}.yaml`]: 'temperature: 0.5\n',
    'config/bots/claude.yaml':
      'name: Claude\nmode: prefill\ncontinuationModel: claude-3-5-sonnet-20241022\ntemperature: 1.0\nmaxTokens: 4096\nmaxToolDepth: 100\nllmRetries: 3\ndiscordBackoffMax: 32000\nimaginary: 5\ntopP: 7\n',
    [`config/bots/claude-${GUILD}.yaml`]: 'max_images: 2\n',
    [`tools/claude/${CHANNEL}/2026-01-01-10.jsonl`]: `${use('call_1')}\n${use('call_2')}\n`,
  });

describe('importing from chapter3', () => {
  it('takes over its hierarchy, its vendors and its tool calls', async () => {
    using home = makeFolder({ '.env.claude': `DISCORD_TOKEN=${TOKEN}\n` });
    using dir = chapter3();
    const { code, yaml } = await importing(home, 'chapter3', dir);
    expect(code).to.equal(0);
    expect(yaml('config/shared.yaml')).to.deep.equal({
      vendors: {
        anthropic: {
          config: { anthropic_api_key: variable('ANTHROPIC_API_KEY') },
          provides: ['claude-3-5-sonnet-20241022'],
        },
      },
      recencyWindow: 300,
    });
    expect(yaml(`config/guilds/${GUILD}.yaml`)).to.deep.equal({ temperature: 0.5 });
    expect(yaml('config/bots/claude.yaml')).to.deep.equal({
      name: 'Claude',
      mode: 'prefill',
      continuationModel: 'claude-3-5-sonnet-20241022',
      temperature: 1,
      maxTokens: 4096,
      maxToolDepth: 100,
      llmRetries: 3,
      discordBackoffMax: 32_000,
    });
    expect(yaml(`config/bots/claude-${GUILD}.yaml`)).to.deep.equal({ maxImages: 2 });
    const kept = join(home.path, 'data', 'bots', 'claude', 'tools', BOT, CHANNEL, '2026-01-01-10.jsonl');
    expect(readFileSync(kept, 'utf8')).to.equal(`${use('call_1')}\n${use('call_2')}\n`);
  });

  it('syncs each file and its folder, and leaves the rights of a file that was there', async () => {
    using home = makeFolder({ '.env.claude': `DISCORD_TOKEN=${TOKEN}\n`, 'config/shared.yaml': '# mine\n' });
    chmodSync(join(home.path, 'config/shared.yaml'), 0o664);
    using dir = chapter3();
    using syncs = await countSyncs();
    await importing(home, 'chapter3', dir);
    expect(syncs.files, 'shared, guild, bot, bot in guild, calls').to.be.at.least(5);
    expect(syncs.folders).to.be.at.least(4);
    expect(statSync(join(home.path, 'config/shared.yaml')).mode & 0o777).to.equal(0o664);
  });

  it('tells every key that it could not take over, with file and line', async () => {
    using home = makeFolder({ '.env.claude': `DISCORD_TOKEN=${TOKEN}\n` });
    using dir = chapter3();
    const { said } = await importing(home, 'chapter3', dir);
    expect(said).to.include('config/bots/claude.yaml:9: imaginary has no counterpart here');
    expect(said).to.match(/config\/bots\/claude\.yaml:10: topP has a value that cannot be used here: /);
  });

  it('copies no secret, and says which variables to set', async () => {
    using home = makeFolder({ '.env.claude': `DISCORD_TOKEN=${TOKEN}\n` });
    using dir = makeFolder({
      'config/shared.yaml': `vendors:\n  one: {config: {openai_api_key: "key-one", api_base: "https://one.example/v1"}, provides: [a]}\n  two: {config: {openai_api_key: "key-two"}, provides: [b]}\n`,
      'config/bots/claude.yaml': `discord_token: abc\nname: Claude\ninstructions: "my key is ${ANTHROPIC_KEY}"\n`,
    });
    const { said, yaml } = await importing(home, 'chapter3', dir);
    expect(yaml('config/shared.yaml').vendors).to.deep.equal({
      one: {
        config: { openai_api_key: variable('OPENAI_API_KEY'), baseUrl: 'https://one.example/v1' },
        provides: ['a'],
      },
      two: { config: { openai_api_key: variable('TWO_OPENAI_API_KEY') }, provides: ['b'] },
    });
    expect(yaml('config/bots/claude.yaml')).to.deep.equal({ name: 'Claude' });
    for (const line of [
      'OPENAI_API_KEY in .env ',
      'TWO_OPENAI_API_KEY in .env ',
      'DISCORD_TOKEN in .env.claude ',
      'INSTRUCTIONS in .env.claude ',
    ])
      expect(said).to.include(`  ${line}`);
    expect(said).not.to.include(ANTHROPIC_KEY);
    expect(said).not.to.include('key-one');
  });

  it('keeps what is there, comments too, and says so; --overwrite replaces it and keeps the old file', async () => {
    const mine = '# mine\nname: Mine # yes\n';
    using home = makeFolder({ 'config/bots/claude.yaml': mine, '.env.claude': `DISCORD_TOKEN=${TOKEN}\n` });
    using dir = chapter3();
    const first = await importing(home, 'chapter3', dir);
    expect(first.code).to.equal(1);
    expect(first.said).to.include('config/bots/claude.yaml:2: name is there already with another value, and stays');
    expect(first.yaml('config/bots/claude.yaml')).to.include({ name: 'Mine', mode: 'prefill' });
    const added = readFileSync(join(home.path, 'config/bots/claude.yaml'), 'utf8');
    expect(added.startsWith(mine)).to.equal(true);

    const second = await importing(home, 'chapter3', dir, { overwrite: true });
    expect(second.code).to.equal(0);
    expect(second.yaml('config/bots/claude.yaml').name).to.equal('Claude');
    expect(readFileSync(join(home.path, 'config/bots/claude.yaml.before-import'), 'utf8')).to.equal(added);
  });

  it('changes nothing when it is done again', async () => {
    using home = makeFolder({ '.env.claude': `DISCORD_TOKEN=${TOKEN}\n` });
    using dir = makeFolder({
      'config/bots/claude.yaml': 'name: Claude\n',
      [`tools/claude/${CHANNEL}/2026-01-01-10.jsonl`]: `${use('call_1')}\n`,
    });
    await importing(home, 'chapter3', dir);
    const before = snapshot(home);
    const again = await importing(home, 'chapter3', dir);
    expect(again).to.include({ code: 0, said: 'There was nothing new to take over.\n' });
    expect(snapshot(home)).to.deep.equal(before);
  });

  it('prints the same in a dry run, and writes nothing', async () => {
    using home = makeFolder({ '.env.claude': `DISCORD_TOKEN=${TOKEN}\n` });
    using dir = chapter3();
    const { said } = await importing(home, 'chapter3', dir, { dryRun: true });
    expect(existsSync(join(home.path, 'config'))).to.equal(false);
    expect(existsSync(join(home.path, 'data', 'bots'))).to.equal(false);
    expect(said).to.include('config/bots/claude.yaml: name, mode, continuationModel');
    expect(said).to.match(/claude: 2, into data\/bots\/claude\/tools\/\d+/);
    expect(said).to.include('ANTHROPIC_API_KEY in .env');
  });

  it('does not import tool calls without a known owner', async () => {
    using home = makeFolder();
    using dir = chapter3();
    const unknown = await importing(home, 'chapter3', dir);
    expect(unknown.code).to.equal(1);
    expect(unknown.said).to.match(
      /tools\/claude: it is not known yet .* DISCORD_TOKEN in \.env\.claude, or say its user id with --bot-id/,
    );
    const known = await importing(home, 'chapter3', dir, { botId: BOT });
    expect(known.said).to.include(`claude: 2, into data/bots/claude/tools/${BOT}`);
  });

  it('accepts lines in the format of other versions, and counts unreadable ones', async () => {
    using home = makeFolder();
    const older = JSON.stringify({
      call: { id: 7, name: 'roll', input: '2d6', message_id: 900 },
      result: { content: 'seven', error: null },
      timestamp: '2026-01-01T10:00:00Z',
    });
    using dir = makeFolder({
      [`tools/${BOT}/${CHANNEL}/2026-01-01-10.jsonl`]: `${older}\n{"call": tor\n\n[]\n`,
      [`tools/${BOT}/notes/2026-01-01-10.jsonl`]: '',
      [`tools/${BOT}/${CHANNEL}/readme.txt`]: '',
    });
    const { said } = await importing(home, 'chapter3', dir);
    const kept = join(home.path, 'data', 'tools', BOT, CHANNEL, '2026-01-01-10.jsonl');
    expect(JSON.parse(readFileSync(kept, 'utf8'))).to.deep.equal({
      call: { id: '7', name: 'roll', input: { value: '2d6' }, messageId: '900' },
      result: { callId: '7', output: 'seven' },
      timestamp: '2026-01-01T10:00:00.000Z',
    });
    expect(said).to.include('2026-01-01-10.jsonl: 2 of its lines cannot be read');
    expect(said).to.include(`tools/${BOT}/notes: its name is not that of a channel's folder`);
    expect(said).to.include(`tools/${BOT}/${CHANNEL}/readme.txt: its name is not that of an hour's file`);
  });

  it('does not write under a bot that runs', async () => {
    using home = makeFolder({ '.env.claude': `DISCORD_TOKEN=${TOKEN}\n` });
    using dir = chapter3();
    using _ = lockByAnother(join(home.path, 'data', 'bots', 'claude'));
    const { code, err } = await importing(home, 'chapter3', dir);
    expect(err).to.include('is in use by process');
    expect(code).to.equal(1);
  });

  it('says what is wrong with a file or a name, and goes on', async () => {
    using home = makeFolder();
    using dir = makeFolder({
      'config/guilds/my-server.yaml': 'mode: chat\n',
      'config/bots/broken.yaml': 'mode: [\n',
      'config/bots/Claude Opus.yaml': 'mode: chat\n',
    });
    const { said, yaml } = await importing(home, 'chapter3', dir);
    expect(said).to.include("config/guilds/my-server.yaml: its name is not that of a guild's file");
    expect(said).to.match(/config\/bots\/broken\.yaml:\d: it is not valid YAML/);
    expect(said).to.include('the bot is called Claude-Opus here');
    expect(yaml('config/bots/Claude-Opus.yaml')).to.deep.equal({ mode: 'chat' });
  });

  it('refuses what it cannot do', async () => {
    using home = makeFolder();
    using empty = makeFolder();
    const refused = async (program: string, options = {}) => {
      const { code, err } = await importing(home, program, empty, options);
      expect(code).to.equal(1);
      return err;
    };
    expect(await refused('chapter4')).to.match(/It is "import chapter2 DIR" or/);
    expect(await refused('chapter3')).to.match(/does not look like a folder of chapter3/);
    expect(await refused('chapter3', { botId: 'x' })).to.match(/--bot-id must be/);
  });
});

describe('importing from chapter2', () => {
  it('maps its keys in every way in which they were written', async () => {
    using home = makeFolder();
    using dir = makeFolder({
      'ems/config.yaml': `vendors:\n  openai-openrouter:\n    config: {openai_api_key: abc, api_base: "https://openrouter.ai/api/v1"}\n    provides: ["*"]\n  novelai:\n    config: {novel_option: 5}\n    provides: [kayra]\n`,
      'ems/arago/config.yaml':
        'reply_on_random: 64\nprompt_max_tokens: 31_000\nrecency-window: 500\ncontinuation_max_tokens: 240\ncontinuation_model: davinci-002\nstop_sequences: ["###"]\nsampling: {temperature: 0.9, top_p: 0.7}\nimage_limits: {max_images: 3, max_width: 100}\nensembles: [{faculty: character}]\ninterfaces:\n  - {name: discord, max_queued_replies: 2, reply_on_name: true, discord_token: abc, mute: false}\n  - {name: rpc}\n',
      'ems/arago/discord_token': 'abc',
      'ems/sims/config.json': '{"em": {"name": "Sims", "temperature": 1}, "reply_on_random": false}',
    });
    const { code, said, yaml } = await importing(home, 'chapter2', dir);
    expect(code).to.equal(0);
    expect(yaml('config/bots/arago.yaml')).to.deep.equal({
      mode: 'prefill',
      replyOnRandom: 64,
      recencyWindow: 500,
      maxTokens: 240,
      continuationModel: 'davinci-002',
      stopSequences: ['###'],
      temperature: 0.9,
      topP: 0.7,
      maxImages: 3,
      maxQueuedReplies: 2,
      replyOnName: true,
    });
    expect(yaml('config/bots/sims.yaml')).to.deep.equal({
      mode: 'prefill',
      name: 'Sims',
      temperature: 1,
      replyOnRandom: 0,
    });
    expect(yaml('config/shared.yaml').vendors['openai-openrouter'].config).to.deep.equal({
      openai_api_key: variable('OPENAI_API_KEY'),
      baseUrl: 'https://openrouter.ai/api/v1',
    });
    expect(yaml('config/shared.yaml').vendors).to.have.keys('openai-openrouter');
    expect(yaml('config/shared.yaml').vendors['openai-openrouter'].provides).to.deep.equal(['.*']);
    expect(said).to.match(/ems\/config\.yaml:5: vendors\.novelai has a value that cannot be used here: /);
    for (const left of ['image_limits.max_width', 'ensembles', 'mute', 'interfaces.rpc'])
      expect(said).to.match(new RegExp(`arago/config.yaml:\\d+: ${left} has no counterpart here`));
    expect(said).to.include('DISCORD_TOKEN in .env.arago');
  });
});

/** Every file below a folder with its text. */
function snapshot(folder: Folder): Readonly<Record<string, string>> {
  const names = readdirSync(folder.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(name, 'utf8')]));
}
