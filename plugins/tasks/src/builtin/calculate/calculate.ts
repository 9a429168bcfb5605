import { type ToolDefinition, z } from '@cinnabar/sdk';
import { EXPRESSION, EXPRESSION_HINT, evaluate } from './evaluate.js';

const input = z.object({
  expression: z.string().regex(EXPRESSION, EXPRESSION_HINT).describe('Such as (12.5 * 3) ^ 2 / sqrt(7)'),
});

/** `calculate`: arithmetic, so that a model need not guess at it. */
export const calculateTool: ToolDefinition<typeof input, number> = {
  name: 'calculate',
  description:
    'Works out an arithmetic expression: + - * / % ^, brackets, pi, e, sqrt, log, round, min, max, sum, mean …',
  input,
  risk: 'read',
  examples: ['calculate {expression}', 'what is {expression}?', 'how much is {expression}?', 'work out {expression}'],
  present: {
    sentence: ({ expression }) => `I'll work out ${expression}`,
    action: 'Calculate',
    success: ({ expression }, result) => `${expression} = ${result}`,
  },
  run: ({ expression }) => evaluate(expression),
};
