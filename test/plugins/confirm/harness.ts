import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import {
  type Actor,
  definePlugin,
  inStep,
  type Outcome,
  type Plugin,
  SettingsCatalog,
  type SettledOutcome,
  type ToolSession,
  Tools,
  UserError,
  z,
} from '@cinnabar/sdk';
import { ComponentType } from 'discord.js';
import { inNewGuild } from '../../support/shared-host.js';

export interface Harness extends AsyncDisposable {
  readonly host: TestHost;
  /** The inputs of the tools' runs, in order. */
  readonly runs: unknown[];
  /** Calls a tool as a model on behalf of a member; resolves when the call is held, refused or finished. */
  call(user: LocalUser, input: Readonly<Record<string, unknown>>, more?: CallOptions): Promise<Outcome>;
  /** Calls tools in one response of a model. */
  callAll(
    user: LocalUser,
    inputs: readonly Readonly<Record<string, unknown>>[],
    more?: CallOptions,
  ): Promise<readonly Outcome[]>;
  /** The bot's messages in a channel, oldest first. */
  said(channel?: LocalChannel): LocalMessage[];
  /** The bot's latest message, which must exist. */
  latest(channel?: LocalChannel): LocalMessage;
  configure(key: string, value: string): Promise<void>;
  /** Resolves once a tool with the input "wait" has begun; `release` lets it end. */
  begun(): Promise<void>;
  release(): void;
}
interface CallOptions {
  readonly tool?: string;
  readonly channel?: LocalChannel;
  /** The task of the call. */
  readonly session?: ToolSession;
  readonly signal?: AbortSignal;
  readonly origin?: string;
}

/** A host with the plugin `confirm` and one that has a tool of each risk: `errand` and `fill` (write), `look` (read) and `wipe` (destructive). */
export async function openHarness(options: Partial<TestHostOptions> = {}): Promise<Harness> {
  const errands = createErrands();
  const host = await createTestHost({ ...options, plugins: ['confirm', errands.plugin, ...(options.plugins ?? [])] });
  return harnessOn(host, errands);
}

/**
 * One host for all tests of a suite.
 * @returns opens a harness on it in a new guild
 */
export function shareHarness(): () => Promise<Harness> {
  const errands = createErrands();
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: ['confirm', errands.plugin] });
  });
  after(() => host[Symbol.asyncDispose]());
  return async () => {
    errands.clear();
    return harnessOn(await inNewGuild(host), errands);
  };
}

function harnessOn(host: TestHost, errands: Errands): Harness {
  const actorOf = (user: LocalUser, channel: LocalChannel): Actor => ({
    userId: user.id,
    guildId: channel.guild?.id ?? null,
    channelId: channel.id,
  });
  const said = (channel = host.general) => channel.messages.filter(({ author }) => author.id === host.bot.id);
  return {
    host,
    runs: errands.runs,
    async call(user, input, { tool = 'errand', channel = host.general, ...more } = {}) {
      const actor = actorOf(user, channel);
      const request = { name: tool, arguments: input, actor, origin: 'test', ...more };
      const outcome = await host.resolve(Tools).invoke(request);
      await host.settled();
      return outcome;
    },
    async callAll(user, inputs, { tool = 'errand', channel = host.general, ...more } = {}) {
      const request = { name: tool, actor: actorOf(user, channel), origin: 'test', ...more };
      const tools = host.resolve(Tools);
      const outcomes = await inStep(
        inputs.map((input) => (step) => tools.invoke({ ...request, arguments: input, step })),
      );
      await host.settled();
      return outcomes;
    },
    said,
    latest(channel) {
      const message = said(channel).at(-1);
      if (message === undefined) throw new Error('the bot has said nothing');
      return message;
    },
    async configure(key, value) {
      await host.resolve(SettingsCatalog).set('confirm', key, value, actorOf(host.you, host.general));
    },
    begun: errands.begun,
    release: errands.release,
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Advances the time until a repeated attempt has succeeded. */
export async function inTime<T>({ discord, clock }: TestHost, promise: Promise<T>): Promise<T> {
  let over = false;
  const mark = () => {
    over = true;
  };
  promise.then(mark, mark);
  while (!over) {
    // The host settles only after its handlers have ended, which wait for the clock.
    await discord.settled();
    clock.advance(1_000);
  }
  return promise;
}

/** The bot's answer to a decided card, as this member reads it. */
export function toldTo(user: LocalUser, text: string): string {
  return `${text}\n-# for ${user}`;
}

/** The labels of a row's buttons. */
export function labelsOf(row: LocalMessage['components'][number]): readonly (string | undefined)[] {
  if (row.type !== ComponentType.ActionRow) return [];
  return row.components.map((component) => ('label' in component ? component.label : undefined));
}

/** The outcome of a held call. */
export function settledOf(outcome: Outcome): Promise<SettledOutcome> {
  if (outcome.status !== 'deferred') throw new Error(`it was not deferred, but ${JSON.stringify(outcome)}`);
  return outcome.settled;
}

interface Errands extends Pick<Harness, 'begun' | 'release'> {
  readonly plugin: Plugin;
  readonly runs: unknown[];
  /** Forgets the runs of earlier tests. */
  clear(): void;
}

function createErrands(): Errands {
  const runs: unknown[] = [];
  let begun = gate();
  let released = gate();
  const wait = async () => {
    begun.open();
    await released.opened;
  };
  return {
    plugin: errandsPlugin(runs, wait),
    runs,
    begun: () => begun.opened,
    release: () => released.open(),
    clear() {
      runs.length = 0;
      released.open();
      begun = gate();
      released = gate();
    },
  };
}

function errandsPlugin(runs: unknown[], wait: () => Promise<void>): Plugin {
  const input = z.object({ what: z.string(), dry_run: z.boolean().optional(), confirmed: z.boolean().optional() });
  const definition = (name: string, risk: 'read' | 'write' | 'destructive') => ({
    name,
    description: 'Does something.',
    input,
    risk,
    present: {
      sentence: () => "I'll run an errand",
      labels: { what: 'What' },
      success: ({ what }: { what: string }) => `✓ Did ${what}.`,
      cancelled: ({ what }: { what: string }) => `Cancelled ${what}.`,
    },
    async run(given: { what: string }) {
      runs.push(given);
      if (given.what === 'wait') await wait();
      if (given.what === 'break') throw new Error('internal detail');
      if (given.what === 'explain') throw new UserError('The shop is closed.');
      return 'done';
    },
  });
  return definePlugin({
    manifest: {
      id: 'errands',
      version: '1.0.0',
      description: 'Tools for tests',
      // Includes the intents of `confirm`, so that the bot need not reconnect for them when it is loaded again, which takes seconds.
      intents: ['GuildMessages', 'GuildMessageReactions', 'DirectMessages', 'DirectMessageReactions', 'MessageContent'],
    },
    setup({ tool }) {
      tool(definition('errand', 'write'));
      tool(definition('look', 'read'));
      tool(definition('wipe', 'destructive'));
      tool({
        name: 'fill',
        description: 'Fills in a form.',
        input: z.looseObject({}),
        risk: 'write',
        run: (given) => runs.push(given),
      });
    },
  });
}
