/* image.S: the catalog's image, made by tools/catalog/generate.py, in read-only memory. */
    .section .rodata
    .global anyperf_catalog_image
    .hidden anyperf_catalog_image
    .type anyperf_catalog_image, @object
    .balign 64
anyperf_catalog_image:
    .incbin ANYPERF_CATALOG_IMAGE
    .size anyperf_catalog_image, . - anyperf_catalog_image
    .section .note.GNU-stack, "", @progbits
