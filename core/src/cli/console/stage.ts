import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import type { Clock } from '@cinnabar/sdk';
import { ConsoleError } from './instruction.js';

/** The people and the place that the console plays with. */
export interface Stage {
  readonly discord: LocalDiscord;
  readonly application: LocalApplication;
  readonly guild: LocalGuild;
  readonly channel: LocalChannel;
  /** Owner of the guild and of the bot. */
  readonly you: LocalUser;
  /** A member by name; a new name joins the guild. @throws ConsoleError for the bot's name */
  member(name: string): LocalUser;
  /** A user who exists already, the bot included. */
  known(name: string): LocalUser | undefined;
  people(): readonly LocalUser[];
}

/** When the demo guild was made. Ids follow from it, so that data of one run is found again in the next. */
const FOUNDED = Date.UTC(2026, 0, 1);

/** Starts the local Discord with a demo guild: @you, its owner, and a few members. */
export async function setStage(clock: Clock, members: readonly string[]): Promise<Stage> {
  let founded = false;
  const discord = await startLocalDiscord({ clock: { now: () => (founded ? clock.now() : FOUNDED) } });
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const channel = guild.createChannel({ name: 'general' });
  const known = new Map([['you', you]]);
  const member = (name: string) => {
    if (name.toLowerCase() === application.user.username.toLowerCase())
      throw new ConsoleError(`${name} is the bot: it speaks for itself.`);
    const present = known.get(name.toLowerCase());
    if (present !== undefined) return present;
    const person = discord.createUser({ name });
    guild.join(person);
    known.set(name.toLowerCase(), person);
    return person;
  };
  for (const name of members) member(name);
  founded = true;
  const people = () => [...known.values(), application.user];
  return {
    discord,
    application,
    guild,
    channel,
    you,
    member,
    people,
    known: (name) => people().find(({ username }) => username.toLowerCase() === name.toLowerCase()),
  };
}
