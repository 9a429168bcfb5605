import type { Actor } from '@cinnabar/sdk';
import type { Channel, GuildMember, Message } from 'discord.js';
import type { Answers } from '../answers/answers.js';
import type { Problem } from '../options/bind.js';
import type { GivenValue } from '../options/convert.js';
import type { Place } from '../options/place.js';
import type { CommandEntry } from '../registry/entry.js';

/** One use of a command, by message or by slash: all that differs between the two is in here. */
export interface Call {
  readonly entry: CommandEntry;
  readonly source: 'prefix' | 'slash';
  readonly prefix: string;
  readonly actor: Actor;
  readonly place: Place;
  readonly message: Message | null;
  readonly answers: Answers;
  channel(): Promise<Channel> | Channel;
  member(): Promise<GuildMember | null> | GuildMember | null;
  /** What was given for the options, before any of it is looked at. */
  given(): { readonly given: ReadonlyMap<string, GivenValue> } | { readonly problem: Problem };
  /** How a problem is shown: with the usage where that was typed by hand. */
  show(problem: Problem): string;
}
