import type { CompletedAction } from '@cinnabar/sdk';
import { nowIn } from '../conversation/local-time.js';
import { inert, renderLines, withNames } from '../conversation/render.js';
import type { Recalled } from '../memory/types.js';
import { toldIn } from '../state/goals.js';
import type { State } from '../state/schema.js';
import type { Scene } from './run-context.js';
import { happening } from './trigger-context.js';

/** The state as its persona is told of it. Cards name their character `{{char}}`, and whoever it talks to `{{user}}`. */
function describeState(state: State, { self, speaker, told }: Scene['run']): Readonly<Record<string, unknown>> {
  const other = speaker?.name ?? 'whoever is there';
  const textsOf = (items: State['goals']) => toldIn(items, told).map(({ text }) => text);
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

/** Everything particular to this moment, built from fresh state: blocks of data, and the question last. */
export async function situationOf(
  { run, settings, earlier, recalled, lore, seen }: Scene,
  state: State,
  completed: readonly CompletedAction[],
  question: string,
  now: number,
  statusOf: (callId: string) => Promise<string>,
): Promise<string> {
  const { self, names, lines, trigger, botId, reflection } = run;
  const withSelf = new Map([...names, [botId, self]]);
  const block = (name: string, content: string) => (content === '' ? [] : [`<${name}>\n${content}\n</${name}>`]);
  return [
    ...block('now', inert(nowIn(settings, now))),
    ...block('state', inert(describeState(state, run))),
    ...block('lore', lore.map((text) => inert(text)).join('\n')),
    ...block('memories', recalled.map((one) => describeMemory(one, withSelf)).join('\n')),
    ...block('earlier', earlier.map((text) => inert(text)).join('\n')),
    ...block('conversation', await renderLines(lines, withSelf, self, now, statusOf)),
    ...block('reflect-on', (reflection?.evidence ?? []).map(({ id, text }) => inert({ id, text })).join('\n')),
    ...block('happened', inert({ ...happening(trigger), ...shownWith(seen, withSelf) })),
    ...block('done', completed.map(({ action, summary: result }) => inert({ action, result })).join('\n')),
    question,
  ].join('\n\n');
}

/** The message that was replied to, and what was attached. */
function shownWith({ replied, texts }: Scene['seen'], names: ReadonlyMap<string, string>) {
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
