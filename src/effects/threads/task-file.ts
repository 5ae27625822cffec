/** The file of a thread: next to the sources when they run directly, otherwise next to the bundle. */
export function taskFile(task: string): string {
  const path = import.meta.url.endsWith('.ts') ? `../../../workers/${task}.ts` : `../workers/${task}.js`;
  return new URL(path, import.meta.url).href;
}
