import { type ImportContext, redImporter, z } from '@cinnabar/sdk';
import { type collections, LIMITS, type settings } from './context.js';

type Context = ImportContext<typeof settings, typeof collections>;

const NAME = /^[\p{L}\p{N}_-]{1,32}$/u;
const id = z.union([z.string(), z.number()]).transform(String);

const command = z.object({
  author: z.object({ id }).optional(),
  response: z.union([z.string(), z.array(z.string())]),
  cooldowns: z.record(z.string(), z.number()).default({}),
});

/** Custom commands of Red's CustomCommands cog. */
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

/** Aliases of Red's Alias cog. What they stand for is written with the names that commands have here, as far as it begins with one that is known. */
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

/** @param here the line as it is typed here, where it begins with a command that is known */
function takenAs(what: string, text: string, here: string | undefined): string {
  if (here === undefined) return `${what}, as it stands: see whether there is such a command here`;
  return here === text ? what : `${what}: ${here} here`;
}

/** What is taken over from Red-DiscordBot. */
export const importers = [commands, aliases];
