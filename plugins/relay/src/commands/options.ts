import { type CommandContext, option, plainText, t, UserError, visible } from '@cinnabar/sdk';
import { byKey, type Chosen, type Roster, type Rosters } from '../agents/roster.js';

export const ADMIN = { tier: 'admin', where: 'guild' } as const;

/** The guild of an admin's command, which is only there where there is one. */
export function guildOf({ guild }: CommandContext): string {
  if (guild === null) throw new UserError(t('This is for servers. Use it in a channel of one.'));
  return guild.id;
}

/** The agent of that name, or the one that there is, or the default. @throws UserError with the names when there is none */
export function agentNamed(roster: Roster | undefined, name: string | undefined): Chosen {
  const agents = Object.entries(roster?.agents ?? {});
  if (roster === undefined || agents.length === 0) {
    throw new UserError(t('There is no agent here yet. Let one in with `relay agent <id> [name]`.'));
  }
  const [[only] = ['']] = agents;
  const wanted = name?.toLowerCase();
  const named = agents.find(([, agent]) => agent.name.toLowerCase() === wanted)?.[0];
  const key = wanted === undefined ? (agents.length === 1 ? only : roster.defaultAgent) : named;
  const chosen = byKey(roster, key);
  if (chosen !== undefined) return chosen;
  throw new UserError(
    name === undefined
      ? t('There is no agent chosen here. {known}', { known: known(roster) })
      : t('There is no agent called "{name}" here. {known}', { name, known: known(roster) }),
  );
}

function known({ agents }: Roster): string {
  const names = Object.values(agents).map(({ name }) => `\`${name}\``);
  return t('There {count, plural, one {is} other {are}} {names}.', { count: names.length, names: names.join(', ') });
}

/** An agent's name, suggested while it is typed. */
export function agentOption(rosters: Rosters) {
  return option
    .suggested((typed, { guildId }) =>
      Object.values((guildId === null ? undefined : rosters.of(guildId))?.agents ?? {})
        .filter(({ name }) => name.toLowerCase().startsWith(typed.toLowerCase()))
        .map(({ name }) => ({ name, value: name })),
    )
    .optional()
    .describe('Its name here; the default agent when left out');
}

/** A time that Discord shows in the reader's time zone: `f` in full, `R` relative. */
export function timestamp(at: number, style: 'f' | 'R'): string {
  return `<t:${Math.floor(at / 1000)}:${style}>`;
}

/** A text without effect as Markdown or as a mention, and with hidden characters shown. */
export function inert(text: string): string {
  return plainText(visible(text));
}
