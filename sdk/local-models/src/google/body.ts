import { z } from 'zod';

const name = z.string().regex(/^[a-zA-Z_][\w.-]{0,63}$/);
const mimeType = z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']);
const args = z.record(z.string(), z.unknown());

const part = z
  .strictObject({
    text: z.string().optional(),
    inlineData: z.strictObject({ mimeType, data: z.base64().min(1) }).optional(),
    fileData: z.strictObject({ mimeType, fileUri: z.url({ protocol: /^https?$/ }) }).optional(),
    functionCall: z.strictObject({ id: z.string().optional(), name, args: args.optional() }).optional(),
    functionResponse: z.strictObject({ id: z.string().optional(), name, response: args }).optional(),
    thoughtSignature: z.string().min(1).optional(),
  })
  .refine(
    ({ thoughtSignature: _signature, ...data }) =>
      Object.values(data).filter((value) => value !== undefined).length === 1,
    'required oneof field "data" must have one initialized field',
  );
export type GeminiPart = z.output<typeof part>;

const content = z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(part).min(1) });

/** The part of a `generateContent` request that a client of ours sends; anything else is refused. */
export const GEMINI_BODY = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: z.strictObject({ role: z.string().optional(), parts: z.array(part).min(1) }).optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name,
            description: z.string().optional(),
            parametersJsonSchema: z.looseObject({ type: z.literal('object') }).optional(),
          }),
        ),
      }),
    )
    .optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().min(0).max(2).optional(),
      topP: z.number().min(0).max(1).optional(),
      maxOutputTokens: z.number().int().min(1).optional(),
      stopSequences: z.array(z.string().min(1)).max(5).optional(),
      responseMimeType: z.enum(['text/plain', 'application/json']).optional(),
      responseJsonSchema: z.looseObject({ type: z.literal('object') }).optional(),
    })
    .optional(),
});
export type GeminiBody = z.output<typeof GEMINI_BODY>;
