import {
  type Actor,
  createKeyedMutex,
  type GuildCommand,
  type GuildCommands,
  type ImportContext,
  redImporter,
  requireGuildId,
  TIERS,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { fillAnswer } from './answer.js';
import {
  type Alias,
  type CustomCommand,
  type CustomContext,
  type collections,
  LIMITS,
  type settings,
} from './context.js';

const NAME = /^[\p{L}\p{N}_-]{1,32}$/u;

interface Made {
  readonly commands: ReadonlyMap<string, CustomCommand & { readonly entry: GuildCommand }>;
  readonly aliases: ReadonlyMap<string, Alias>;
}
const NONE: Made = { commands: new Map(), aliases: new Map() };

export type CustomStore = ReturnType<typeof createCustomStore>;

/** The custom commands and aliases of all guilds, in memory. Changes are written before they take effect. */
export function createCustomStore(context: CustomContext) {
  const { collections, services, settings, log } = context;
  const made = new Map<string, Made>();
  /** Serializes creations, so that two members cannot take the same name at once. */
  const creations = createKeyedMutex();
  /** The next answer of a command. */
  const turns = new Map<string, number>();
  const loaded = load();
  loaded.catch((error: unknown) => log.error('the custom commands could not be read', { error }));
  for (const collection of [collections.commands, collections.aliases]) {
    context.defer(collection.watch((guildId) => void read(guildId)));
  }

  async function load(): Promise<void> {
    const guilds = new Set<string>();
    for await (const [guildId] of collections.commands.entries()) guilds.add(guildId);
    for await (const [guildId] of collections.aliases.entries()) guilds.add(guildId);
    for (const guildId of guilds) await read(guildId);
  }

  async function read(guildId: string): Promise<void> {
    const commands = (await collections.commands.of(guildId).get()).made.filter(({ answers }) => answers.length > 0);
    const aliases = (await collections.aliases.of(guildId).get()).made.filter(({ text }) => text !== '');
    const before = made.get(guildId) ?? NONE;
    made.set(guildId, {
      commands: new Map(commands.map((one) => [one.name, { ...one, entry: entryOf(guildId, one, before) }])),
      aliases: new Map(aliases.map((one) => [one.name, one])),
    });
  }

  /** The host's entry for a command; the previous one unless a property changed that the host shows or counts. */
  function entryOf(guildId: string, command: CustomCommand, before: Made): GuildCommand {
    const known = before.commands.get(command.name);
    if (known !== undefined && known.cooldownSeconds === command.cooldownSeconds) return known.entry;
    const { name, cooldownSeconds } = command;
    return {
      name,
      description: 'A custom command of this server',
      ...(cooldownSeconds === 0 ? {} : { cooldown: { uses: 1, perMs: cooldownSeconds * 1_000 } }),
      run: async (ctx, text) => {
        const now = made.get(guildId)?.commands.get(name);
        if (now === undefined) throw new UserError(t('That command is gone.'));
        const answer = await fillAnswer(services.access, nextAnswer(guildId, now), ctx, text);
        if (answer.trim() === '') throw new UserError(t('There is nothing to say: write something after the command.'));
        return ctx.reply(answer);
      },
    };
  }

  function nextAnswer(guildId: string, { name, answers, order }: CustomCommand): string {
    const key = `${guildId}:${name}`;
    const turn = turns.get(key) ?? 0;
    if (order === 'turn') turns.set(key, (turn + 1) % answers.length);
    const index = order === 'turn' ? turn : Math.floor(services.random.next() * answers.length);
    return answers[index % answers.length] ?? '';
  }

  const source: GuildCommands = {
    find: (guildId, name) => made.get(guildId)?.commands.get(name)?.entry,
    list: (guildId) => [...(made.get(guildId)?.commands.values() ?? [])].map(({ entry }) => entry),
    expand(guildId, name, rest) {
      const alias = made.get(guildId)?.aliases.get(name);
      if (alias === undefined) return undefined;
      const { text, tier, isByMember } = alias;
      return { text: expandAlias(text, rest), tier: isByMember ? 'everyone' : tier };
    },
  };

  /** Whether the actor is at least a moderator, who may change what others have created. */
  const isModerator = async (actor: Actor) =>
    TIERS.indexOf(await services.access.tierOf(actor)) >= TIERS.indexOf('mod');

  async function check(actor: Actor, name: string): Promise<string> {
    const wanted = name.trim().toLowerCase();
    if (!NAME.test(wanted)) throw new UserError(t('A name is 1 to 32 letters, digits, `-` and `_`.'));
    if (services.commands.has(wanted)) {
      throw new UserError(t('There is a command `{name}` already.', { name: wanted }));
    }
    const { commands, aliases } = made.get(requireGuildId(actor)) ?? NONE;
    if (commands.has(wanted) || aliases.has(wanted)) {
      throw new UserError(t('There is a custom command or alias `{name}` already.', { name: wanted }));
    }
    const { mostCommands } = await settings.guild(requireGuildId(actor)).get();
    if (Math.max(commands.size, aliases.size) >= mostCommands) {
      throw new UserError(t('There are too many already: at most {most}.', { most: mostCommands }));
    }
    const own = [...commands.values(), ...aliases.values()].filter(({ authorId }) => authorId === actor.userId);
    if (own.length >= LIMITS.ofMember && !(await isModerator(actor))) {
      throw new UserError(t('You can have at most {most} of your own.', { most: LIMITS.ofMember }));
    }
    return wanted;
  }

  async function own<T extends { authorId: string }>(actor: Actor, one: T | undefined, name: string): Promise<T> {
    if (one === undefined) throw new UserError(t('There is no custom command or alias `{name}` here.', { name }));
    if (one.authorId !== actor.userId && !(await isModerator(actor))) {
      throw new UserError(t('Only its author and moderators can change that.'));
    }
    return one;
  }

  async function change(actor: Actor, name: string, body: (command: CustomCommand) => void): Promise<CustomCommand> {
    const guildId = requireGuildId(actor);
    let changed: CustomCommand | undefined;
    await collections.commands.of(guildId).update(async (draft) => {
      changed = await own(
        actor,
        draft.made.find((one) => one.name === name),
        name,
      );
      body(changed);
    });
    await read(guildId);
    if (changed === undefined) throw new UserError(t('There is no custom command or alias `{name}` here.', { name }));
    return changed;
  }

  async function create(actor: Actor, name: string, answer: string): Promise<CustomCommand> {
    const wanted = await check(actor, name);
    const command: CustomCommand = {
      name: wanted,
      answers: [checkText(answer, LIMITS.text)],
      order: 'random',
      cooldownSeconds: 0,
      authorId: actor.userId,
      isByMember: !(await isModerator(actor)),
      madeAt: services.clock.now(),
    };
    await collections.commands.of(requireGuildId(actor)).update((draft) => {
      draft.made = [...withoutName(draft.made, command.name), command];
    });
    await read(requireGuildId(actor));
    return command;
  }

  async function createAlias(actor: Actor, name: string, text: string): Promise<Alias> {
    const wanted = await check(actor, name);
    const meant = checkText(text, LIMITS.alias);
    const word = (/^\S+/u.exec(meant)?.[0] ?? '').toLowerCase();
    const { commands, aliases } = made.get(requireGuildId(actor)) ?? NONE;
    if (word === wanted || !(services.commands.has(word) || commands.has(word) || aliases.has(word))) {
      throw new UserError(t('There is no command `{word}` that it could stand for.', { word }));
    }
    const alias: Alias = {
      name: wanted,
      text: meant,
      authorId: actor.userId,
      isByMember: !(await isModerator(actor)),
      tier: await services.access.tierOf(actor),
      madeAt: services.clock.now(),
    };
    await collections.aliases.of(requireGuildId(actor)).update((draft) => {
      draft.made = [...withoutName(draft.made, alias.name), alias];
    });
    await read(requireGuildId(actor));
    return alias;
  }

  return {
    source,
    loaded,
    /** @returns those of a guild, by name */
    of(guildId: string): { readonly commands: readonly CustomCommand[]; readonly aliases: readonly Alias[] } {
      const { commands, aliases } = made.get(guildId) ?? NONE;
      const byName = <T extends { readonly name: string }>(all: Iterable<T>) =>
        [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
      return { commands: byName(commands.values()), aliases: byName(aliases.values()) };
    },
    /** Whether a plugin's command has the name now, so that the custom one is not reachable. */
    isHidden: (name: string) => services.commands.has(name),
    create: async (actor: Actor, name: string, answer: string): Promise<CustomCommand> => {
      await loaded;
      return creations.run(requireGuildId(actor), () => create(actor, name, answer));
    },
    addAnswer: (actor: Actor, name: string, answer: string) =>
      change(actor, name.toLowerCase(), ({ answers }) => {
        if (answers.length >= LIMITS.answers)
          throw new UserError(t('A command has at most {most} answers.', { most: LIMITS.answers }));
        answers.push(checkText(answer, LIMITS.text));
      }),
    edit: (actor: Actor, name: string, answer: string) =>
      change(actor, name.toLowerCase(), (command) => {
        command.answers = [checkText(answer, LIMITS.text)];
      }),
    setOrder: (actor: Actor, name: string, order: CustomCommand['order']) =>
      change(actor, name.toLowerCase(), (command) => {
        command.order = order;
      }),
    setCooldown: (actor: Actor, name: string, seconds: number) =>
      change(actor, name.toLowerCase(), (command) => {
        command.cooldownSeconds = Math.min(seconds, LIMITS.seconds);
      }),
    async remove(actor: Actor, kind: 'commands' | 'aliases', name: string): Promise<void> {
      const guildId = requireGuildId(actor);
      const wanted = name.toLowerCase();
      const { commands, aliases } = made.get(guildId) ?? NONE;
      await own(actor, kind === 'commands' ? commands.get(wanted) : aliases.get(wanted), wanted);
      const without = <T extends { name: string }>(draft: { made: T[] }) => {
        draft.made = draft.made.filter((one) => one.name !== wanted);
      };
      if (kind === 'commands') await collections.commands.of(guildId).update(without);
      else await collections.aliases.of(guildId).update(without);
      await read(guildId);
    },
    createAlias: async (actor: Actor, name: string, text: string): Promise<Alias> => {
      await loaded;
      return creations.run(requireGuildId(actor), () => createAlias(actor, name, text));
    },
  };
}

/** Removes an entry under a free name: its text was deleted with its author's data, and it would hide the new command from editors. */
const withoutName = <T extends { readonly name: string }>(all: readonly T[], name: string): T[] =>
  all.filter((one) => one.name !== name);

/** Replaces `{0}`, `{1}` … by the words after the alias; words that are not referred to are appended. */
function expandAlias(text: string, rest: string): string {
  const words = rest.match(/"[^"]*"|\S+/gu) ?? [];
  let named = 0;
  const filled = text.replace(/\{(\d{1,2})\}/gu, (_, index: string) => {
    named = Math.max(named, Number(index) + 1);
    return words[Number(index)] ?? '';
  });
  const more = named === 0 ? rest : words.slice(named).join(' ');
  return more === '' ? filled : `${filled} ${more}`;
}

function checkText(text: string, most: number): string {
  const trimmed = text.trim();
  // An empty text is written as a pair of quotes.
  if (/^["'“”„]*$/u.test(trimmed)) throw new UserError(t('It has to say something.'));
  if (trimmed.length > most) throw new UserError(t('That is too long: at most {most} characters.', { most }));
  return trimmed;
}

type Context = ImportContext<typeof settings, typeof collections>;

const id = z.union([z.string(), z.number()]).transform(String);

const command = z.object({
  author: z.object({ id }).optional(),
  response: z.union([z.string(), z.array(z.string())]),
  cooldowns: z.record(z.string(), z.number()).default({}),
});

/** Imports custom commands of Red's CustomCommands cog. */
const commands = redImporter({
  from: 'CustomCommands',
  data: z.strictObject({
    guild: z.strictObject({ commands: z.record(z.string(), command.nullable()).default({}) }).prefault({}),
  }),
  async run({ guild }, { guildId, collections: stored, settings: chosen, clock, ...findings }: Context) {
    const { mostCommands } = await chosen.guild(guildId).get();
    await stored.commands.of(guildId).update((draft) => {
      for (const [given, one] of Object.entries(guild.commands)) {
        const name = given.toLowerCase();
        const what = `custom command ${given}`;
        const answers = [one?.response ?? []].flat().slice(0, LIMITS.answers);
        if (draft.made.some((made) => made.name === name)) {
          findings.present(what);
          continue;
        }
        const problem = problemOf(name, draft.made.length, mostCommands);
        if (problem !== undefined) findings.leftOut(what, problem);
        else if (one === null || answers.length === 0) findings.leftOut(what, 'it was deleted there');
        else {
          const seconds = Math.max(0, ...Object.values(one.cooldowns));
          draft.made.push({
            name,
            answers: answers.map((answer) => answer.slice(0, LIMITS.text)),
            order: 'random',
            cooldownSeconds: Math.min(LIMITS.seconds, Math.ceil(seconds)),
            authorId: one.author?.id ?? '',
            isByMember: false,
            madeAt: clock.now(),
          });
          findings.taken(what);
          const more = [one.response].flat().length - answers.length;
          if (more > 0) findings.leftOut(`${more} answers of ${what}`, `there are at most ${LIMITS.answers}`);
        }
      }
    });
  },
});

function problemOf(name: string, count: number, most: number): string | undefined {
  if (!NAME.test(name)) return 'a name is 1 to 32 letters, digits, - and _';
  return count >= most ? `there are ${most} already` : undefined;
}

/** Imports aliases of Red's Alias cog. Command lines that begin with a known command are translated to its name here. */
const aliases = redImporter({
  from: 'Alias',
  data: z.strictObject({
    guild: z
      .strictObject({ entries: z.array(z.object({ name: z.string(), command: z.string(), creator: id })).default([]) })
      .prefault({}),
  }),
  async run({ guild }, { guildId, collections: stored, lineHere, clock, taken, present, leftOut }: Context) {
    await stored.aliases.of(guildId).update((draft) => {
      for (const { name: given, command: text, creator } of guild.entries) {
        const name = given.toLowerCase();
        const what = `alias ${given} for ${text}`;
        const here = lineHere(text);
        const line = here ?? text;
        if (draft.made.some((made) => made.name === name)) present(what);
        else if (!NAME.test(name)) leftOut(what, 'a name is 1 to 32 letters, digits, - and _');
        else if (line.length > LIMITS.alias) leftOut(what, `it has more than ${LIMITS.alias} characters`);
        else {
          draft.made.push({ name, text: line, authorId: creator, isByMember: false, tier: 'mod', madeAt: clock.now() });
          taken(takenAs(what, text, here));
        }
      }
    });
  },
});

/** @param here the line as it is typed here, if it begins with a known command */
function takenAs(what: string, text: string, here: string | undefined): string {
  if (here === undefined) return `${what}, as it stands: see whether there is such a command here`;
  return here === text ? what : `${what}: ${here} here`;
}

/** The importers for data of Red-DiscordBot. */
export const importers = [commands, aliases];
