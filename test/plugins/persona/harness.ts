import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import {
  type ModelScript,
  type ModelStep,
  type ReplyStep,
  type ScriptedLlm,
  say,
  scriptedLlm,
} from '@cinnabar/local-models';
import { type PersonaEvent, Personas, type Plugin } from '@cinnabar/sdk';
import { createModelPerTest } from '../../support/model-per-test.js';
import { useSharedHost } from '../../support/shared-host.js';

/** An action in a model's plan. */
export interface PlannedStep {
  readonly action: string;
  readonly context?: string;
  readonly result?: Readonly<Record<string, unknown>> | null;
}

/** The model's answer to the request for a plan. */
export function plan(
  actions: readonly PlannedStep[],
  more: { canExtend?: boolean; reasoning?: string } = {},
): ReplyStep {
  const { canExtend = false, reasoning = 'It seems right.' } = more;
  return say(
    JSON.stringify({
      reasoning,
      actions: actions.map((step) => ({ context: '', result: null, ...step })),
      can_extend: canExtend,
    }),
  );
}

/** The model's answer to an action's request for its result. */
export const result = (value: Readonly<Record<string, unknown>>): ReplyStep => say(JSON.stringify(value));

export const speak = (message: string): PlannedStep => ({ action: 'SPEAK', result: { message } });
export const think = (thought: string): PlannedStep => ({ action: 'THINK', result: { thought } });

/** A host with a persona as the guild's responder. */
export interface PersonaHarness extends TestHost {
  readonly llm: ScriptedLlm;
  /** All events so far. */
  readonly events: readonly PersonaEvent[];
  /** Sends a message to the persona. @returns the bot's messages until it has settled */
  hears(text: string, from?: TestHost['alice']): Promise<readonly string[]>;
}

interface PersonaHarnessOptions extends Omit<TestHostOptions, 'plugins'> {
  readonly more?: readonly (string | Plugin)[];
}

export async function openPersonaHarness(
  steps: readonly ModelStep[] | ModelScript = [],
  options: PersonaHarnessOptions = {},
): Promise<PersonaHarness> {
  const { more = [], ...rest } = options;
  const llm = scriptedLlm(steps);
  const host = await createTestHost({ ...rest, plugins: ['admin', 'ai', 'persona', llm, ...more] });
  return harnessOf(host, llm, options.world === undefined);
}

/**
 * One host for the tests of a file: see `useSharedHost`.
 * @returns opens a harness in a guild of its own, with a model of its own
 */
export function usePersonaHost(): (steps?: readonly ModelStep[] | ModelScript) => Promise<PersonaHarness> {
  const models = createModelPerTest();
  const enter = useSharedHost(() => ({ plugins: ['admin', 'ai', 'persona', models.plugin] }));
  return async (steps = []) => harnessOf(await enter(), models.next(steps), true);
}

async function harnessOf(host: TestHost, llm: ScriptedLlm, isNewGuild: boolean): Promise<PersonaHarness> {
  if (isNewGuild) {
    host.you.say(host.general, '!ai use persona');
    await host.settled();
  }
  const events: PersonaEvent[] = [];
  host.resolve(Personas).subscribe({ guildId: host.guild.id }, (event) => void events.push(event));
  return {
    ...host,
    get log() {
      return host.log;
    },
    llm,
    events,
    async hears(text, from = host.alice) {
      const before = spoken(host).length;
      from.say(host.general, `!ai ${text}`);
      await host.settled();
      return spoken(host).slice(before);
    },
  };
}

function spoken({ general, bot }: TestHost): readonly string[] {
  return general.messages.filter(({ author }) => author.id === bot.id).map(({ content }) => content);
}

/** Changes a setting of the persona as the guild's owner. */
export async function set(harness: TestHost, key: string, value: string | number | boolean): Promise<void> {
  harness.you.say(harness.general, `!set persona ${key} ${value}`);
  await harness.settled();
}

/** Events in a compact form for comparison. */
export const told = (events: readonly PersonaEvent[]): readonly string[] => events.map(toldOne);

function toldOne(event: PersonaEvent): string {
  switch (event.type) {
    case 'tool-started':
      return `started ${event.tool}`;
    case 'tool-finished':
      return `${event.failed ? 'failed' : 'finished'} ${event.tool}`;
    case 'text':
      return `${event.isThought ? 'thought' : 'said'}: ${event.content}`;
    case 'system':
      return event.event;
  }
}
