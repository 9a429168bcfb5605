import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { callTool, hang } from '@cinnabar/local-models';
import type { CommandLine } from '../../e2e/support/command-line.js';
import { PLUGINS, SLOW_DISK, SLOW_MCP_SERVER } from './programs.js';
import type { Scene, SceneOptions } from './scene.js';

/** A state of the bot in which a signal arrives. */
export interface State extends SceneOptions {
  readonly name: string;
  /** Brings the bot into this state. */
  readonly reach: (scene: Scene) => Promise<CommandLine>;
  /** Default: SIGTERM. Each signal follows the previous one after a delay. */
  readonly signals?: readonly (readonly [signal: NodeJS.Signals, afterMs: number])[];
  /** Default: 0; SIGKILL is sent by the watchdog. */
  readonly code?: number | 'SIGKILL';
  /** Expected standard error; default: `stopped.` */
  readonly words?: RegExp;
  /** The messages that waiting members read, in any order. */
  readonly read?: readonly RegExp[];
}

const STOPPED = /^I was stopped before I had finished this\. Please ask again\.$/;
const INTERRUPTED = /^This was interrupted, because I am being stopped or updated\./;

async function says(scene: Scene, ...texts: readonly string[]): Promise<CommandLine> {
  const line = await scene.ready();
  for (const text of texts) scene.alice.say(scene.general, text);
  return line;
}

/** Sends commands of the owner and waits for the answers. */
async function setUp(scene: Scene, ...commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const since = scene.you.say(scene.general, command);
    await scene.discord.expectMessage({ author: scene.bot, since });
  }
}

async function reached(line: CommandLine, word: string): Promise<CommandLine> {
  await line.prints(new RegExp(`REACHED ${word}`), 'err');
  return line;
}

const asked = async (scene: Scene) => {
  const line = await says(scene, '!ai Hello?');
  await scene.model.hanging();
  return line;
};

export const STATES: readonly State[] = [
  { name: 'idle', reach: (scene) => scene.ready() },
  { name: 'idle, at SIGHUP', reach: (scene) => scene.ready(), signals: [['SIGHUP', 0]] },
  {
    name: 'idle, at Ctrl-C passed on twice',
    reach: (scene) => scene.ready(),
    signals: [
      ['SIGINT', 0],
      ['SIGINT', 20],
    ],
  },
  {
    name: 'a command under way',
    files: PLUGINS.hanging,
    reach: async (scene) => reached(await says(scene, '!hang'), 'command'),
    read: [INTERRUPTED],
  },
  {
    name: 'a slash interaction deferred',
    files: PLUGINS.deferred,
    async reach(scene) {
      const line = await scene.ready();
      while (scene.bot.globalCommands.size === 0) await scene.discord.settled();
      scene.alice.slash(scene.general, 'defer', {});
      return reached(line, 'deferral');
    },
    read: [INTERRUPTED],
  },
  { name: 'the model hanging', steps: [hang()], reach: asked, read: [STOPPED] },
  { name: 'the model hanging, at SIGHUP', steps: [hang()], reach: asked, signals: [['SIGHUP', 0]], read: [STOPPED] },
  {
    name: 'the model hanging, and a second signal',
    steps: [hang()],
    reach: asked,
    signals: [
      ['SIGTERM', 0],
      ['SIGINT', 200],
    ],
    code: 130,
    words: /SIGINT: ended at once\./,
  },
  {
    name: 'two questions behind one that hangs',
    steps: [hang()],
    async reach(scene) {
      const line = await asked(scene);
      scene.bob.say(scene.general, `<@${scene.bot.id}> And I?`);
      scene.you.say(scene.general, '!ai And I?');
      await scene.discord.settled();
      return line;
    },
    read: [STOPPED, STOPPED, STOPPED],
  },
  {
    name: 'requests to Discord hanging',
    files: PLUGINS.replying,
    async reach(scene) {
      const line = await scene.ready();
      scene.discord.faults.rest.hold({ times: Number.POSITIVE_INFINITY });
      scene.alice.say(scene.general, '!talk');
      return reached(line, 'reply');
    },
  },
  {
    name: 'the gateway away at the start',
    async reach(scene) {
      scene.discord.faults.rest.fail(503, { route: '/gateway/bot', times: Number.POSITIVE_INFINITY });
      return waitingForDiscord(scene);
    },
  },
  {
    name: 'the login waiting',
    async reach(scene) {
      scene.discord.faults.rest.hold({ route: '/gateway/bot', times: Number.POSITIVE_INFINITY });
      return waitingForDiscord(scene);
    },
  },
  {
    name: 'reconnecting',
    async reach(scene) {
      const line = await scene.ready();
      scene.discord.faults.gateway.refuseConnections = Number.POSITIVE_INFINITY;
      scene.discord.faults.gateway.dropSockets();
      await line.prints(/gateway/i, 'err');
      return line;
    },
  },
  {
    name: 'a setup that never ends',
    files: PLUGINS.neverReady,
    reach: async (scene) => reached(scene.start(), 'setup'),
  },
  {
    name: 'a setup that loops for ever',
    files: PLUGINS.loopingSetup,
    reach: async (scene) => reached(scene.start(), 'setup'),
    code: 'SIGKILL',
    words:
      /the plugin looping-setup in setup at .*plugins\/looping-setup\/index\.ts:8:\d+\.[\s\S]*ended by force: it had not stopped 15 s after SIGTERM/,
  },
  {
    name: 'a command that loops for ever, and a second signal',
    files: PLUGINS.loopingCommand,
    reach: async (scene) => reached(await says(scene, '!loop'), 'loop'),
    signals: [
      ['SIGTERM', 0],
      ['SIGINT', 300],
    ],
    code: 'SIGKILL',
    words: /ended by force: SIGINT came while it was stopping/,
  },
  {
    name: 'a command that loops for ever after an await, named',
    files: PLUGINS.loopingLater,
    async reach(scene) {
      const line = await says(scene, '!later');
      await line.prints(/the plugin looping-later .*at .*plugins\/looping-later\/index\.ts:8:\d+\./, 'err');
      return line;
    },
    signals: [
      ['SIGTERM', 0],
      ['SIGTERM', 700],
    ],
    code: 'SIGKILL',
    words: /ended by force: SIGTERM came while it was stopping/,
  },
  {
    name: 'a plugin being reloaded',
    files: PLUGINS.reloading,
    async reach(scene) {
      const line = await scene.ready();
      scene.you.say(scene.general, '!plugin reload reloading');
      return reached(line, 'reload');
    },
    read: [INTERRUPTED],
  },
  { name: 'a plugin whose disposer hangs', files: PLUGINS.clinging, reach: (scene) => scene.ready() },
  { name: 'a plugin that leaves a timer behind', files: PLUGINS.leaving, reach: (scene) => scene.ready() },
  {
    name: 'a task running',
    steps: [hang()],
    async reach(scene) {
      const line = await says(scene, '!task Tidy the shelves');
      await scene.model.hanging();
      return line;
    },
  },
  {
    name: 'a persona making up its mind',
    files: { 'config/shared.yaml': 'settings:\n  ai:\n    defaultResponder: persona\n' },
    steps: [hang()],
    reach: asked,
    read: [STOPPED],
  },
  {
    name: 'a relay agent at work',
    async reach(scene) {
      const line = await scene.ready();
      const { id } = scene.letta.addAgent({ name: 'aurora', script: (turn) => turn.hang() });
      await setUp(scene, `!relay agent ${id} aurora`, '!relay enable', '!ai use relay');
      scene.alice.say(scene.general, '!ai Hello?');
      await scene.letta.hanging(1);
      return line;
    },
  },
  {
    name: 'a tool of an MCP server under way',
    files: {
      'slow-mcp.mjs': SLOW_MCP_SERVER,
      'config/shared.yaml':
        'settings:\n  mcp:\n    servers:\n      slow:\n        command: node\n        args: [ROOT/slow-mcp.mjs]\n        tier: everyone\n',
    },
    steps: [callTool('slow_wait'), hang()],
    async reach(scene) {
      const line = await scene.ready();
      // The tools of a new server are read in the background.
      while (!scene.said().some((text) => /slow_wait/.test(text) && !/no tool/.test(text))) {
        await setUp(scene, '!tool policy slow_wait allow');
      }
      scene.alice.say(scene.general, '!ai Wait');
      while (!existsSync(scene.at('called'))) await wait(20);
      return line;
    },
    read: [STOPPED],
  },
  {
    name: 'a card open',
    offline: true,
    async reach(scene) {
      const line = await says(scene, "!ai add V to my party, he's a Solo");
      await scene.discord.expectMessage({ author: scene.bot, content: /Confirm/ });
      return line;
    },
  },
  {
    name: 'a write that hangs',
    files: { 'slow-disk.mjs': SLOW_DISK },
    preload: 'slow-disk.mjs',
    async reach(scene) {
      const line = await scene.ready();
      await writeFile(scene.at('slow'), '');
      scene.you.say(scene.general, '!prefix add ?');
      return reached(line, 'disk');
    },
    code: 1,
    words: /stopped\. Cut short: .*saving.*Not everything could be saved in time\./,
  },
];

/** The bot has reported that Discord does not answer. */
async function waitingForDiscord(scene: Scene): Promise<CommandLine> {
  const line = scene.start();
  await line.prints(/not ready since/, 'err');
  return line;
}
