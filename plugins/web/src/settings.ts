import { parseListen, z } from '@cinnabar/sdk';

const listen = z.string().refine((text) => parseListen(text) !== undefined, 'has to be a port, host:port, or off');

export const settings = {
  global: z.object({
    listen: listen
      .default('off')
      .describe('Where the dashboard is served: a port of this machine, host:port, or off; CINNABAR_WEB comes first'),
    publicUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('The address under which a proxy shows it, such as https://bot.example.org'),
    trustProxy: z
      .boolean()
      .default(false)
      .describe('Whether a proxy stands before it, whose word on the address of a visitor counts'),
    idleDays: z
      .number()
      .int()
      .min(1)
      .max(90)
      .default(7)
      .describe('After how many days without a visit a person has to sign in again'),
  }),
};

export const env = z.object({
  CINNABAR_WEB: listen.optional().describe('Where the dashboard is served: a port of this machine, host:port, or off'),
  DISCORD_CLIENT_SECRET: z
    .string()
    .optional()
    .describe("Client secret of the bot's application, with which people sign in to the dashboard by Discord"),
  CINNABAR_METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      'Bearer token with which other machines may read /metrics of the dashboard; without it this machine alone may',
    ),
});
