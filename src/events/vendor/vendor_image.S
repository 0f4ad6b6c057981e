/* vendor_image.S: the lists of the vendors, packed by tools/catalog/pack_vendor.py, in read-only memory. */
    .section .rodata
    .global anyperf_vendor_image
    .hidden anyperf_vendor_image
    .type anyperf_vendor_image, @object
    .balign 64
anyperf_vendor_image:
    .incbin ANYPERF_VENDOR_IMAGE
    .size anyperf_vendor_image, . - anyperf_vendor_image
    .section .note.GNU-stack, "", @progbits
