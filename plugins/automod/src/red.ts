import { type ImportContext, importSetting, redImporter, z } from '@cinnabar/sdk';
import { type collections, LIMITS, settings } from './context.js';

const data = z.strictObject({
  guild: z
    .strictObject({
      filter: z.array(z.string()).default([]),
      filter_names: z.boolean().optional(),
      filterban_count: z.number().optional(),
      filterban_time: z.number().optional(),
      filter_default_name: z.string().optional(),
    })
    .prefault({}),
  members: z.record(z.string(), z.unknown()).optional(),
  channels: z.record(z.string(), z.strictObject({ filter: z.array(z.string()).default([]) })).default({}),
});

/** The words of Red's Filter cog. */
export const filterOfRed = redImporter({
  from: 'Filter',
  data,
  async run({ guild, members, channels }, context: ImportContext<typeof settings, typeof collections>) {
    const { leftOut, present, taken } = context;
    const document = context.settings.guild(context.guildId);
    const { words } = await document.get();
    const word = settings.guild.shape.words.unwrap().element;
    const isGood = (text: string) => word.safeParse(text).success;
    const known = guild.filter.filter((text) => words.includes(text));
    const added = guild.filter
      .filter((text) => !words.includes(text) && isGood(text))
      .slice(0, LIMITS.words - words.length);
    if (added.length > 0) {
      await document.set({ words: [...words, ...added] });
      taken(`words: ${added.join(', ')}; \`plugin enable automod\` switches the filter on`);
    }
    if (known.length > 0) present(`words: ${known.join(', ')}`);
    for (const text of guild.filter)
      if (!known.includes(text) && !added.includes(text))
        leftOut(`word ${text}`, `it is too short, or there are ${LIMITS.words}`);
    const { filter_names, filterban_count, filterban_time, filter_default_name } = guild;
    if (filter_names !== undefined)
      await importSetting(
        { document, schema: settings.guild },
        'names',
        filter_names,
        `filter_names ${filter_names}`,
        context,
      );
    if (filterban_count !== undefined || filterban_time !== undefined)
      leftOut(
        `a ban after ${filterban_count ?? 0} words in ${filterban_time ?? 0} s`,
        'wordsActions has warnings, and warnActions of moderation what follows them',
      );
    if (filter_default_name !== undefined)
      leftOut(`filter_default_name ${filter_default_name}`, 'names are reported, not replaced');
    for (const [channel, { filter }] of Object.entries(channels))
      leftOut(`words of the channel ${channel}: ${filter.join(', ')}`, 'the words are those of the whole server');
    if (members !== undefined) leftOut('how many filtered words members wrote lately', 'it is of no use later');
  },
});
