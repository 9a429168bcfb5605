import { notConfigured } from './single.js';

/** Whether a model's name is one of those that a pattern describes, from its first letter to its last. */
export type NamePattern = (model: string) => boolean;

const WITHOUT_MEANING = /^[\w:@/-]+$/;
const LONGEST_NAME = 300;

/**
 * Reads a vendor's `provides`. Patterns are those of RE2, which takes time in proportion to the name whatever the pattern: look-around
 * and back-references do not exist there and are refused, as are repetitions of more than 1,000.
 * @throws CINNABAR_LLM_NOT_CONFIGURED with vendor, pattern and what is wrong with it
 */
export async function readPatterns(vendor: string, patterns: readonly string[]): Promise<readonly NamePattern[]> {
  if (patterns.every((pattern) => WITHOUT_MEANING.test(pattern)))
    return patterns.map((name) => (model) => model === name);
  const { RE2JS } = await import('re2js');
  return patterns.map((pattern) => {
    try {
      const compiled = RE2JS.compile(pattern);
      return (model) => model.length <= LONGEST_NAME && compiled.matches(model);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw notConfigured(`the vendor "${vendor}" has a pattern in provides that cannot be used: ${problem}`);
    }
  });
}

/** The one model that a pattern means, if it looks like a name: a dot is then taken for itself. */
export function plainName(pattern: string): string | undefined {
  const name = pattern.replaceAll('\\.', '.');
  return WITHOUT_MEANING.test(name.replaceAll('.', '')) ? name : undefined;
}
