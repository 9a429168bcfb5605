import type { CompletedAction, ToolSource } from '@cinnabar/sdk';
import { outcomeText } from '../actions/use-tool.js';
import type { PersonaContext } from '../context.js';
import { nowIn } from '../conversation/local-time.js';
import { inert, renderLines, withNames } from '../conversation/render.js';
import type { Recalled } from '../memory/types.js';
import { visibleTo } from '../state/goals.js';
import type { State } from '../state/schema.js';
import type { Attachments } from './attachments.js';
import type { RunContext } from './run-context.js';
import { happening, type TriggerContext } from './trigger-context.js';

/** The state as its persona reads it. In cards `{{char}}` is their character, and `{{user}}` the person it talks to. */
function describeState(
  state: State,
  { self, speaker, audience }: RunContext['run'],
): Readonly<Record<string, unknown>> {
  const other = speaker?.name ?? 'whoever is there';
  const textsOf = (items: State['goals']) => visibleTo(items, audience).map(({ text }) => text);
  const { description, mood, appearance, environment, goals, desires, profile } = state;
  const filled = (text: string) =>
    text.replaceAll(/\{\{char\}\}/gi, () => self).replaceAll(/\{\{user\}\}/gi, () => other);
  const written = {
    name: self,
    description: filled(description),
    mood: `${mood.name}, ${mood.intensity} of 10`,
    appearance,
    environment,
    goals: textsOf(goals),
    desires: textsOf(desires),
    personality: filled(profile.personality),
    scenario: filled(profile.scenario),
    'how I greet': filled(profile.greeting),
    'how I talk': filled(profile.examples),
    'wishes of my author': filled(profile.instructions),
    'and last': filled(profile.closing),
  };
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value.length > 0));
}

/** Writes everything particular to a moment of the run, from fresh state: blocks of data, and the question last. */
export function createPromptContext(
  { run, settings, place, earlier, recalled, lore, attachments }: RunContext,
  { actor, before = [] }: TriggerContext,
  completed: readonly CompletedAction[],
  { clock, ledger, provenance, store }: PersonaContext,
): (question: string) => Promise<string> {
  const { self, names, lines, trigger, botId, reflection } = run;
  const withSelf = new Map([...names, [botId, self]]);
  // Of its own accord it says what everyone there may read.
  const mayShow = async (sources: readonly ToolSource[] | undefined) =>
    actor === undefined ? provenance.mayTell(sources, place) : provenance.mayShow(sources, [actor]);
  const statusOf = async (callId: string) => outcomeText(await ledger.get(callId), mayShow);
  const block = (name: string, content: string) => (content === '' ? [] : [`<${name}>\n${content}\n</${name}>`]);
  return async (question) => {
    const { state } = await store.read(place);
    const now = clock.now();
    const done = [...before, ...completed].map(({ action, summary: result }) => inert({ action, result }));
    return [
      ...block('now', inert(nowIn(settings, now))),
      ...block('state', inert(describeState(state, run))),
      ...block('lore', lore.map((text) => inert(text)).join('\n')),
      ...block('memories', recalled.map((one) => describeMemory(one, withSelf)).join('\n')),
      ...block('earlier', earlier.map((text) => inert(text)).join('\n')),
      ...block('conversation', await renderLines(lines, withSelf, self, now, statusOf)),
      ...block('reflect-on', (reflection?.evidence ?? []).map(({ id, text }) => inert({ id, text })).join('\n')),
      ...block('happened', inert({ ...happening(trigger), ...describeAttachments(attachments, withSelf) })),
      ...block('done', done.join('\n')),
      question,
    ].join('\n\n');
  };
}

/** The message that was replied to, and what was attached. */
function describeAttachments({ replied, texts }: Attachments, names: ReadonlyMap<string, string>) {
  const from = replied === undefined ? undefined : (names.get(replied.userId) ?? replied.name);
  return {
    ...(replied === undefined ? {} : { in_reply_to: { from, said: withNames(replied.text, names) } }),
    ...(texts.length === 0 ? {} : { attached_texts: texts }),
  };
}

function describeMemory({ memory }: Recalled, names: ReadonlyMap<string, string>): string {
  const { id, text, subject, subjectName, speaker, speakerName, at } = memory;
  return inert({
    id,
    about: names.get(subject) ?? subjectName ?? subject,
    said_by: names.get(speaker) ?? speakerName ?? 'someone',
    on: new Date(at).toISOString().slice(0, 10),
    text,
  });
}
