import type { LocalChannel } from '@cinnabar/local-discord';
import type { Stage } from './stage.js';

const TYPED = /(^|[\s(])([@#])([\p{L}\p{N}_.-]+)/gu;

/** What people type as a mention: `@alice` and `#dev` become mentions where there is such a member or channel. */
export function withMentions(stage: Stage, text: string): string {
  return text.replace(TYPED, (whole, before: string, sign: string, name: string) => {
    // A full stop may end the sentence.
    const bare = name.replace(/[.-]+$/, '');
    const thing = sign === '@' ? stage.known(bare) : channelsOf(stage).find((channel) => channel.name === bare);
    return thing === undefined ? whole : `${before}${thing}${name.slice(bare.length)}`;
  });
}

/** What people read in place of mentions, custom emoji and points in time. */
export function withNames(stage: Stage, text: string): string {
  return text
    .replace(/<@!?(\d+)>/g, (whole, id: string) =>
      named('@', stage.people().find((user) => user.id === id)?.username, whole),
    )
    .replace(/<@&(\d+)>/g, (whole, id: string) => named('@', stage.guild.roles.get(id)?.name, whole))
    .replace(/<#(\d+)>/g, (whole, id: string) =>
      named('#', channelsOf(stage).find((channel) => channel.id === id)?.name, whole),
    )
    .replace(/<a?(:\w+:)\d+>/g, '$1')
    .replace(
      /<t:(\d{1,11})(?::[tTdDfFR])?>/g,
      (_, seconds: string) => `${new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    );
}

export function channelsOf({ guild }: Stage): readonly LocalChannel[] {
  return [...guild.channels.values(), ...guild.threads.values()];
}

function named(sign: string, name: string | undefined, otherwise: string): string {
  return name === undefined ? otherwise : sign + name;
}
