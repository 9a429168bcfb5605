import type { GuildAgent, Roster } from './roster.js';

export interface Chosen {
  /** Its key in the roster. */
  readonly key: string;
  readonly agent: GuildAgent;
}

/**
 * Which of a guild's agents a message is for: the one that it names, else the one of the channel, else the default.
 * @param places the channel, then the ones that it belongs to
 */
export function chooseAgent(roster: Roster, places: readonly string[], text: string): Chosen | undefined {
  return namedIn(roster, text) ?? ofChannel(roster, places) ?? byKey(roster, roster.defaultAgent);
}

/** The agent that a text names first, as a word of its own; of two that fit in the same place the longer one. */
export function namedIn({ agents }: Roster, text: string): Chosen | undefined {
  const found = Object.entries(agents).flatMap(([key, agent]) => {
    const at = asWord(agent.name).exec(text)?.index;
    return at === undefined ? [] : [{ key, agent, at }];
  });
  const [first] = found.sort((a, b) => a.at - b.at || b.agent.name.length - a.agent.name.length);
  return first && { key: first.key, agent: first.agent };
}

export function byKey({ agents }: Roster, key: string | undefined): Chosen | undefined {
  const agent = key === undefined || !Object.hasOwn(agents, key) ? undefined : agents[key];
  return key === undefined || agent === undefined ? undefined : { key, agent };
}

function ofChannel({ agents }: Roster, places: readonly string[]): Chosen | undefined {
  for (const place of places) {
    const found = Object.entries(agents).find(([, { channels }]) => channels.includes(place));
    if (found !== undefined) return { key: found[0], agent: found[1] };
  }
  return undefined;
}

/** Every message in a guild with agents is looked at. */
const words = new Map<string, RegExp>();

/** Names are made of letters, digits, `-` and `_`, so only the hyphen means anything in an expression. */
function asWord(name: string): RegExp {
  const known = words.get(name);
  if (known !== undefined) return known;
  const word = new RegExp(`(?<![\\p{L}\\p{N}_-])${name.replace(/-/g, '\\x2d')}(?![\\p{L}\\p{N}_-])`, 'iu');
  words.set(name, word);
  return word;
}
