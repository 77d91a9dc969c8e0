/** What lib/ uses of `mime-types`, which brings no types. types/index.d.ts does not name it. */
declare module 'mime-types' {
  /** Types by extension, without dot. */
  export const types: Record<string, string>
  /** The value of Content-Type for an extension with its dot; false: it is not known. */
  export function contentType (extension: string): string | false
}
