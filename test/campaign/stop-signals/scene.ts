import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  type LocalMessage,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import { type LettaStandIn, startLettaStandIn } from '@cinnabar/local-letta';
import { type ModelStep, startOpenAiStandIn } from '@cinnabar/local-models';
import { type CommandLine, startCommandLine } from '../../e2e/support/command-line.js';

export interface SceneOptions {
  /** Files of the bot's folder, by path. */
  readonly files?: Readonly<Record<string, string | object>>;
  /** The model's answers, in order. */
  readonly steps?: readonly ModelStep[];
  /** A file of the folder that is loaded before the bot. */
  readonly preload?: string;
  /** Without a stand-in for a model, the bot's offline model answers. */
  readonly offline?: boolean;
}

/** The bot in a separate process, and its environment. */
export interface Scene extends AsyncDisposable {
  readonly discord: LocalDiscord;
  readonly bot: LocalApplication;
  readonly guild: LocalGuild;
  readonly general: LocalChannel;
  readonly you: LocalUser;
  readonly alice: LocalUser;
  readonly bob: LocalUser;
  readonly model: Awaited<ReturnType<typeof startOpenAiStandIn>>;
  readonly letta: LettaStandIn;
  /** A path in the bot's folder. */
  at(path: string): string;
  /** Starts the bot; may be called once. */
  start(): CommandLine;
  /** Starts the bot and waits until it is ready. */
  ready(): Promise<CommandLine>;
  /** The end of the bot's output on standard error. */
  errors(): string;
  /** The current texts of the bot's messages in all channels. */
  said(): readonly string[];
}

export async function openScene({ files = {}, steps = [], preload, offline = false }: SceneOptions): Promise<Scene> {
  const root = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-stop-signals-'));
  await mkdir(join(root, 'plugins'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(
      join(root, path),
      typeof content === 'string' ? content.replaceAll('ROOT', root) : JSON.stringify(content),
    );
  }
  const discord = await startLocalDiscord();
  const model = await startOpenAiStandIn({ steps: [...steps] });
  const letta = await startLettaStandIn();
  const [you, alice, bob] = ['you', 'alice', 'bob'].map((name) => discord.createUser({ name }));
  if (you === undefined || alice === undefined || bob === undefined) throw new Error('there are three people');
  const bot = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(bot);
  guild.join(alice);
  guild.join(bob);
  const general = guild.createChannel({ name: 'general' });
  /** Includes ephemeral messages. */
  const seen: LocalMessage[] = [];
  discord.observe((event) => {
    if (event.type === 'messageCreate' && event.message.author.id === bot.id) seen.push(event.message);
  });
  let line: CommandLine | undefined;

  const start = () => {
    line = startCommandLine(
      {
        CINNABAR_DATA: join(root, 'data'),
        CINNABAR_CONFIG: join(root, 'config'),
        CINNABAR_PLUGINS: join(root, 'plugins'),
        DISCORD_API: discord.api,
        DISCORD_TOKEN: bot.token,
        ...(offline ? {} : { OPENAI_BASE_URL: model.baseUrl }),
        LETTA_BASE_URL: letta.baseUrl,
        LOG_LEVEL: 'warn',
        ...(preload === undefined ? {} : { NODE_OPTIONS: `--import=${join(root, preload)}` }),
      },
      ['start'],
    );
    return line;
  };
  return {
    discord,
    bot,
    guild,
    general,
    you,
    alice,
    bob,
    model,
    letta,
    at: (path) => join(root, path),
    start,
    async ready() {
      const started = start();
      await started.prints(/ready/);
      return started;
    },
    errors: () => line?.errors().slice(-600) ?? '',
    said: () => seen.filter(({ deleted }) => !deleted).map(({ content }) => content),
    async [Symbol.asyncDispose]() {
      if (line?.child.exitCode === null && line.child.signalCode === null) {
        line.child.kill('SIGKILL');
        await line.ended;
      }
      discord.faults.clear();
      model.release();
      letta.release();
      await Promise.all([discord.close(), model[Symbol.asyncDispose](), letta[Symbol.asyncDispose]()]);
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
