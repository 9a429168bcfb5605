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

/**
 * The agent that a text is addressed to: by its name at the beginning, after a greeting or an @, or set off by a comma at the end. A name that
 * merely occurs, as "max" in "the max level", addresses no one. Of two that fit in the same place the longer one.
 * @param isForBot whether the text was said to the bot; in other texts a name at the beginning has to be set off, too: "max, are you there?"
 */
export function namedIn({ agents }: Roster, text: string, isForBot = true): Chosen | undefined {
  const said = text.replace(LEADING_MENTIONS, '');
  const found = Object.entries(agents).flatMap(([key, agent]) => {
    const at = asAddress(agent.name, isForBot).exec(said)?.index;
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

const LEADING_MENTIONS = /^(?:\s*<@!?\d+>[\s,:]*)+/u;
const GREETING = '(?:hey|hi|hello|hallo|ok|okay|dear|yo|thanks|thank you)';

/** Every message in a guild with agents is looked at. */
const addresses = new Map<string, RegExp>();

/** Names are made of letters, digits, `-` and `_`, so only the hyphen means anything in an expression. */
function asAddress(name: string, isForBot: boolean): RegExp {
  const known = addresses.get(`${name} ${isForBot}`);
  if (known !== undefined) return known;
  const plain = name.replace(/-/g, '\\x2d');
  const end = '(?![\\p{L}\\p{N}_-])';
  const setOff = isForBot ? end : '(?=\\s*(?:[,:;!?.…—]|$))';
  const address = new RegExp(
    `(?:^\\s*@?${plain}${setOff})|(?:^\\s*${GREETING}[\\s,]+@?${plain}${end})|(?:(?<![\\p{L}\\p{N}_-])@${plain}${end})|(?:,\\s*${plain}\\s*[.!?…]*\\s*$)`,
    'iu',
  );
  addresses.set(`${name} ${isForBot}`, address);
  return address;
}
